// A device's day as a server sees it. No agent runs, but what decides when one asks is the agent's own: how long polls last, the back-off, when a batch
// is due. test/tools/fleet/model.slow.test.ts compares it with whole agents.
import { READ_AFTER_POLL_MS } from "../../../src/agent/attributes/polls.js";
import { READ_EVERY_MS } from "../../../src/agent/attributes/shared-values.js";
import { AGREE_MS } from "../../../src/agent/firmware/assigned-update.js";
import { Backoff } from "../../../src/platform/backoff.js";
import { PollTiming } from "../../../src/platform/poll-timing.js";
import type { Host } from "../../../src/port.js";
import type { DeviceConfig } from "./device-config.js";
import type { Load } from "./load.js";
import { Points } from "./points.js";
import { RpcPolls, UpdatesPolls } from "./polls.js";
import { Uplink } from "./uplink.js";

const NEVER = Number.POSITIVE_INFINITY;

export class DeviceModel {
  readonly #config: DeviceConfig;
  readonly #host: Pick<Host, "random">;
  readonly #uplink: Uplink;
  readonly #points: Points;
  readonly #rpc: RpcPolls;
  readonly #updates: UpdatesPolls;
  /** When the attributes are to be read. */
  #readAt = NEVER;
  #readDoneAt = 0;
  /** Once more a moment after a poll for them was sent, which is then. */
  #pollSentAt = NEVER;
  /** And once more after the first look of all: two that agree are believed. */
  #agreeAt: number | undefined;

  constructor(config: DeviceConfig, load: Load, host: Pick<Host, "random">, startMs: number) {
    this.#config = config;
    this.#host = host;
    const uplink = new Uplink(config, load);
    const parts = { config, load, host, uplink, timing: new PollTiming() };
    this.#uplink = uplink;
    this.#points = new Points(config, uplink, startMs);
    this.#rpc = new RpcPolls(parts);
    this.#updates = new UpdatesPolls(parts);
    this.#start(startMs);
  }

  /** Everything up to `endMs`. */
  run(endMs: number): void {
    const { outage } = this.#config;
    if (outage && outage.fromMs < endMs) {
      this.#until(outage.fromMs);
      this.#lose(outage.fromMs, outage.toMs);
    }
    this.#until(endMs);
  }

  /** A device that is new to the platform finds its marker missing, publishes it, and looks again after a back-off. */
  #start(startMs: number): void {
    const { connections, sizes } = this.#config;
    this.#rpc.startAt(startMs, startMs);
    if (connections === 3) this.#updates.startAt(startMs);
    const askedAt = this.#uplink.exchange(startMs, sizes.firstLook);
    const markedAt = this.#uplink.exchange(askedAt, sizes.marker);
    this.#readAt = this.#readDoneAt = markedAt + new Backoff(this.#host).next();
  }

  #until(endMs: number): void {
    for (;;) {
      const readAt = this.#nextReadAt();
      const at = Math.min(readAt, this.#points.dueAt, this.#rpc.dueAt, this.#updates.dueAt);
      if (at >= endMs) return;
      if (at === readAt) this.#read(at);
      else if (at === this.#points.dueAt) this.#points.send(at);
      else if (at === this.#updates.dueAt) this.#pollSentAt = this.#updates.turn(at) ?? this.#pollSentAt;
      else this.#rpcTurn(at);
    }
  }

  #nextReadAt(): number {
    const wanted = Math.min(this.#readAt, this.#agreeAt ?? NEVER, this.#pollSentAt + READ_AFTER_POLL_MS);
    return Math.max(wanted, this.#readDoneAt);
  }

  #rpcTurn(at: number): void {
    if (!this.#rpc.turn(at)) return;
    const { connections } = this.#config;
    if (connections < 3) this.#readSoon(at);
    if (connections === 1) this.#points.flush(at);
  }

  #read(at: number): void {
    const { connections, sizes } = this.#config;
    const doneAt = this.#uplink.exchange(at, sizes.look);
    this.#readDoneAt = doneAt;
    if (this.#pollSentAt <= at) this.#pollSentAt = NEVER;
    this.#readAt = connections < 3 || this.#updates.isBlocked ? doneAt + READ_EVERY_MS : NEVER;
    if (this.#agreeAt === undefined) this.#agreeAt = doneAt + AGREE_MS;
    else if (this.#agreeAt <= at) this.#agreeAt = NEVER;
  }

  #readSoon(at: number): void {
    this.#readAt = Math.min(this.#readAt, at);
  }

  /** All connections break at once; the device tries until the network is back, as its back-off says. */
  #lose(fromMs: number, toMs: number): void {
    const { connections, latencyMs } = this.#config;
    const noticedAt = fromMs + latencyMs;
    const gate = new Backoff(this.#host);
    const gateMs = gate.next();
    const heldMs = Math.min(this.#rpc.lose(fromMs), connections === 3 ? this.#updates.lose(fromMs) : NEVER);
    this.#points.lost(this.#uplink.lose(fromMs));
    // With an attribute poll of its own the uplink may have nothing to ask.
    const wantsAt = connections === 3 ? Math.min(noticedAt + heldMs, this.#points.dueAt, this.#readAt) : 0;
    // Each later wait begins when a connection was refused.
    let at = Math.max(noticedAt + gateMs, wantsAt);
    let failedAt = noticedAt;
    while (at < toMs) {
      failedAt = at + latencyMs;
      at = failedAt + gate.next();
    }
    this.#uplink.freeAt = this.#uplink.quietAt = this.#readDoneAt = at;
    this.#readSoon(connections === 3 ? fromMs + READ_EVERY_MS : at);
    this.#rpc.startAt(at, failedAt);
    if (connections === 3) this.#updates.startAt(at);
    this.#points.notBefore(at);
  }
}
