// The local platform on sockets of memory, every byte, request and connection counted. Clock and
// network stand still between events, so the counts are the same each time. Answers have the real
// server's head; connections end as there: after a minute of nothing, and after 100 requests.

import { FakeClock } from "../test/fakes/clock.js";
import { FakeNet, type Peer } from "../test/fakes/net.js";
import { type SeenRequest, serve } from "../test/fakes/server.js";
import { PlatformCore } from "../tools/platform/core/platform.js";
import { answerBytes } from "../tools/platform/device/answer-bytes.js";
import { DeviceApi } from "../tools/platform/device-api.js";

export const WALL = Date.UTC(2026, 0, 1);
/** As long as those the platform makes. */
export const TOKEN = "A1B2C3D4E5F6G7H8I9J0";
export const BASE_URL = "http://platform.test";
const IDLE_MS = 60_000;
const REQUESTS = 100;

export class Counted {
  readonly clock = new FakeClock(WALL);
  readonly net: FakeNet;
  /** Both ways, whatever it was. */
  bytes = 0;
  /** Pieces handed to a socket at once. */
  writes = 0;
  requests = 0;
  handshakes = 0;
  readonly core: PlatformCore;
  readonly #api: DeviceApi;
  readonly #seen: SeenRequest[];
  readonly #served = new Map<Peer, { requests: number; stopIdle: () => void }>();

  /**
   * `latencyMs`: one way; to connect takes one way and back. `asyncCapMs`: the server ends open
   * requests after it.
   */
  constructor(latencyMs = 1, asyncCapMs?: number) {
    const { clock } = this;
    this.net = new FakeNet(clock, { latencyMs });
    const timer = (ms: number, due: () => void) => clock.timer(ms, due);
    this.core = new PlatformCore({ clock: { now: () => this.#now(), timer } });
    this.#api = new DeviceApi({
      core: this.core,
      ruleChain: true,
      ...(asyncCapMs !== undefined && { asyncCapMs }),
    });
    this.core.createDevice({ name: "station", profileId: this.core.profiles.default.id }, TOKEN);
    this.net.onBytes = ({ length }) => {
      this.bytes += length;
      this.writes++;
    };
    this.#seen = serve(this.net, (request) => this.#serve(request));
    const attach = this.net.onConnect;
    this.net.onConnect = (peer) => {
      this.handshakes++;
      attach?.(peer);
      clock.timer(latencyMs, () => peer.accept());
      return false;
    };
  }

  /** How many values of a key are stored. */
  stored(key: string): number {
    const all = { startTs: 0, endTs: WALL * 2, limit: 1e9, ascending: true };
    return this.core.devices.byToken(TOKEN)?.series.range(key, all).length ?? 0;
  }

  /** What is over, for runs so long that its memory counts. */
  forget(): void {
    this.#seen.length = 0;
    const open = this.net.peers.filter(({ closed }) => !closed);
    this.net.peers.splice(0, this.net.peers.length, ...open);
    for (const { writes } of open) writes.length = 0;
    for (const peer of this.#served.keys()) if (peer.closed) this.#served.delete(peer);
  }

  #now(): number {
    return this.clock.wall() ?? 0;
  }

  #serve({ peer, path: url, body, method, headers }: SeenRequest): void {
    this.requests++;
    const served = this.#served.get(peer) ?? { requests: 0, stopIdle: () => {} };
    this.#served.set(peer, served);
    served.requests++;
    served.stopIdle();
    peer.onClose = this.#api.handle({ method, url, headers, body: Buffer.from(body) }, (answer) => {
      const keepAlive = served.requests < REQUESTS;
      const { whole, closes } = answerBytes(answer, this.#now(), {
        method,

        keepAlive,
        asksToKeep: false,
      });
      peer.send(whole);
      if (closes) peer.end();
      else served.stopIdle = this.clock.timer(IDLE_MS, () => peer.end());
    });
  }
}
