// The platform, the network between, and the weather: what goes wrong with requests for a while.
import { RpcActor } from "../../hosts/platform/core/rpc.js";
import { FakeClock } from "../fakes/clock.js";
import { randomBytes } from "../fakes/host.js";
import { FakeNet, type Peer } from "../fakes/net.js";
import { FakePlatform, type Fault } from "../fakes/platform.js";
import type { SeenRequest } from "../fakes/server.js";

export const NAME = "greenhouse-7";
const WALL = Date.UTC(2026, 0, 1);
const PAGE = "<html><body>Please log in</body></html>";

/** What may happen to a request in bad weather. */
const WEATHER: Readonly<Record<string, (request: SeenRequest, dice: Dice, clock: FakeClock) => Fault>> = {
  dropped: () => "drop",
  hanging: () => "hang",
  unanswered: () => "lose-answer",
  flaky: (request, dice) => {
    if (dice.chance(0.5)) return undefined;
    return dice.pick<Fault | "cut">(["drop", "hang", "lose-answer", "cut"]) === "cut"
      ? cut(request.peer, dice.below(200))
      : dice.pick<Fault>(["drop", "lose-answer", { status: 503 }, { status: 500 }]);
  },
  broken: (request, dice) => cut(request.peer, dice.below(250)),
  slow: ({ peer }, dice, clock) => {
    const { send } = Object.getPrototypeOf(peer) as Peer;
    const ms = dice.pick([500, 5000, 20_000]);
    peer.send = (data) => {
      peer.send = send;
      clock.timer(ms, () => send.call(peer, data));
    };
    return undefined;
  },
  failing: () => ({ status: 500 }),
  busy: () => ({ status: 503 }),
  limited: (request) => {
    request.reply(429, "", { "Retry-After": "7" });
    return "hang";
  },
  unknown: () => ({ status: 401 }),
  misrouted: () => ({ status: 404, body: PAGE }),
  portal: () => ({ status: 200, body: PAGE }),
  moved: () => ({ status: 302 }),
  gateway: () => ({ status: 200, body: {} }),
  chatty: () => ({ status: 200, body: { status: "ok", deleted: 7 } }),
  empty: () => ({ status: 200 }),
  garbage: (request, dice) => {
    request.peer.send(Uint8Array.from({ length: 1 + dice.below(300) }, () => dice.below(256)));
    return "hang";
  },
  long: () => ({ status: 200, body: { shared: { x: "y".repeat(20_000) } } }),
};
/** Answers that can't be told from the platform's own "taken", so that what they are given to is gone without anybody's fault. */
const TAKEN = ["gateway", "chatty", "empty", "long"];
const GONE = /(telemetry|attributes|claim|rpc)$/;
const isTaken = (weather: string, { method, path }: SeenRequest) =>
  TAKEN.includes(weather) && method === "POST" && GONE.test(path);
const PATHS = [/./, /./, /rpc\?/, /updates/, /telemetry/, /attributes(\?|$)/, /rpc\/\d/];

/** The answer's first `bytes` only, then the end. */
function cut(peer: Peer, bytes: number): Fault {
  const { send } = Object.getPrototypeOf(peer) as Peer;
  peer.send = (data) => {
    const whole = typeof data === "string" ? new TextEncoder().encode(data) : data;
    send.call(peer, whole.subarray(0, Math.min(bytes, whole.length - 1)));
    peer.reset();
  };
  return undefined;
}

/** Chance of one seed. */
export class Dice {
  readonly #next: () => number;

  constructor(seed: number) {
    this.#next = randomBytes(seed);
  }

  /** 0 to `limit`, that excluded. */
  below(limit: number): number {
    return ((this.#next() * 256 + this.#next()) * 256 + this.#next()) % limit;
  }

  chance(share: number): boolean {
    return this.below(1000) < share * 1000;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }
}

export class World {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock = new FakeClock(WALL);
  readonly net: FakeNet;
  readonly platform: FakePlatform;
  /** When each request came, but for those with telemetry. */
  readonly requests: number[] = [];
  /** Numbers of the points, in the order in which the platform took them. */
  readonly points: number[] = [];
  /** By kind, as the device last reported. */
  readonly dropped: Record<string, number> = {};
  /** How often the platform restarted. */
  restarts = 0;
  weather = "clear";
  onRequest: ((request: SeenRequest) => void) | undefined;
  #path = /./;
  #connect: "open" | "refused" | "silent" = "open";

  constructor(seed: number) {
    this.seed = seed;
    this.dice = new Dice(seed);
    const slow = this.dice.chance(0.3);
    const options = {
      latencyMs: slow ? 150 : 5,
      ...(this.dice.chance(0.1) && { segmentBytes: 1, readBytes: 7 }),
    };
    this.net = new FakeNet(this.clock, options);
    this.platform = new FakePlatform(this.clock, this.net, this.dice.pick(["deployed", "documented"]));
    this.platform.fault = (request) => {
      if (!request.path.endsWith("telemetry")) this.requests.push(this.clock.now());
      this.onRequest?.(request);
      if (!this.#path.test(request.path) || isTaken(this.weather, request)) return undefined;
      return WEATHER[this.weather]?.(request, this.dice, this.clock);
    };
    this.#listen();
    const { core } = this.platform;
    const take = core.receiveTelemetry.bind(core);
    core.receiveTelemetry = (device, ts, values) => {
      for (const [key, value] of values) {
        if (key === "n") this.points.push(Number(value));
        if (key.startsWith("moteDropped")) this.dropped[key] = Number(value);
      }
      take(device, ts, values);
    };
  }

  get device() {
    return this.platform.core.devices.byName(NAME);
  }

  calm(): void {
    this.weather = "clear";
    this.#connect = "open";
  }

  /** Returns what it is from now on. */
  turn(): string {
    this.calm();
    if (this.dice.chance(0.3)) return "clear";
    if (this.dice.chance(0.15)) {
      this.#connect = this.dice.pick(["refused", "silent"]);
      return `connections ${this.#connect}`;
    }
    this.weather = this.dice.pick(Object.keys(WEATHER));
    this.#path = this.dice.pick(PATHS);
    return `${this.weather} ${this.#path}`;
  }

  /** All connections break, or hang without a word. */
  breakConnections(silent: boolean): void {
    for (const peer of this.net.peers) {
      if (peer.closed) continue;
      if (silent) Object.assign(peer, { send: () => {}, end: () => {}, onData: undefined });
      else peer.reset();
    }
  }

  /** The platform forgets its polls and waiting RPCs, and begins with id 0 again. */
  restartPlatform(silent: boolean): void {
    this.restarts++;
    this.breakConnections(silent);
    const { device } = this;
    if (!device) return;
    device.rpc.close();
    Object.assign(device, { rpc: new RpcActor(this.platform.core.clock) });
    device.notifications.forgetSubscribers();
  }

  #listen(): void {
    const serve = this.net.onConnect;
    this.net.onConnect = (peer) => {
      if (this.#connect === "silent") return false;
      if (this.#connect === "refused") {
        peer.reset("connection refused");
        return false;
      }
      return serve?.(peer) as false | undefined;
    };
  }
}
