// The connection that brings telemetry and reads attributes; with one connection, the poll too.
import type { DeviceConfig } from "./device-config.js";
import type { Load } from "./load.js";
import type { Pair } from "./sizes.js";

/** A server closes an idle connection after a minute, a busy one after 100 requests. */
const KEEP_ALIVE_LIMITS = { idleMs: 60_000, requests: 100 };
/** To connect takes one way and back. */
const WAYS_TO_CONNECT = 2;

export class Uplink {
  /** When it is free for the next request. */
  freeAt = 0;
  /** When the last exchange that is no poll is over. */
  quietAt = 0;
  /** When the device had its last answer, of a poll too. */
  heardAt = 0;
  readonly #config: DeviceConfig;
  readonly #load: Load;
  #isOpen = false;
  #served = 0;
  #answeredAt = 0;
  #handshakes = 0;
  /** The last exchange. */
  #last = { arrivesAt: 0, bytes: 0, points: 0 };

  constructor(config: DeviceConfig, load: Load) {
    this.#config = config;
    this.#load = load;
  }

  /** A request that is answered at once, when those before it are over. Returns when its answer is there. */
  exchange(at: number, pair: Pair, points = 0): number {
    const { latencyMs } = this.#config;
    const arrivesAt = this.#begin(at) + latencyMs;
    this.#load.request(arrivesAt, pair.request + pair.answer, points);
    this.#last = { arrivesAt, bytes: pair.request + pair.answer, points };
    this.#answeredAt = arrivesAt;
    if (++this.#served >= KEEP_ALIVE_LIMITS.requests) this.close(arrivesAt);
    this.freeAt = this.quietAt = this.heardAt = arrivesAt + latencyMs;
    return this.freeAt;
  }

  /** When a poll that is asked for now is sent. */
  poll(at: number): number {
    return this.#begin(at);
  }

  /** What a new connection of any kind costs. Returns when it is there. */
  connect(at: number): number {
    const [full, resumed] = this.#config.sizes.handshake;
    this.#load.opened(at, this.#handshakes++ === 0 ? full : resumed);
    return at + WAYS_TO_CONNECT * this.#config.latencyMs;
  }

  /** The connection breaks: what waits behind a poll does not arrive. Returns how many points do not. */
  lose(at: number): number {
    this.close(at);
    const { arrivesAt, bytes, points } = this.#last;
    if (arrivesAt <= at) return 0;
    this.#load.request(arrivesAt, bytes, points, -1);
    return points;
  }

  close(at: number): void {
    if (this.#isOpen) this.#load.closed(at);
    this.#isOpen = false;
  }

  #begin(at: number): number {
    const from = Math.max(at, this.freeAt);
    const idleEnd = this.#answeredAt + KEEP_ALIVE_LIMITS.idleMs;
    if (this.#isOpen && from > idleEnd) this.close(idleEnd);
    if (this.#isOpen) return from;
    this.#isOpen = true;
    this.#served = 0;
    return this.connect(from);
  }
}
