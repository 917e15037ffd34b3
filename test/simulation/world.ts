// The platform, the network between, and the fault that requests meet for a while.
import { createHash } from "node:crypto";
import { RpcActor } from "../../tools/platform/core/rpc/rpc.js";
import type { Exchange } from "../../tools/platform/device/exchange.js";
import { FakeClock } from "../fakes/clock.js";
import { FakeNet, type Peer } from "../fakes/net.js";
import { FakePlatform, type Fault } from "../fakes/platform.js";
import type { SeenRequest } from "../fakes/server.js";
import { Dice } from "./dice.js";
import { CAUSES, CONNECTS, CONTENT, deaden, ENDLESS, isPoisoned, poisoned } from "./faults.js";
import { Refusals } from "./promises/refusals.js";

export const NAME = "greenhouse-7";
const WALL = Date.UTC(2026, 0, 1);
const PATHS = [/./, /./, /rpc\?/, /updates/, /telemetry/, /attributes(\?|$)/, /rpc\/\d/];
const CAUSE_NAMES = Object.keys(CAUSES);
/** The longest poll with its margin, and the way back. */
const CONNECT_WITHIN_MS = 330_000;
const SLACK_MS = 10_000;

/** A restart of the platform between two messages, so many requests from now. */
interface Trap {
  left: number;
  /**
   * Before the platform has the request, or when it has answered; then what it answered may still
   * arrive.
   */
  readonly when: "before" | "after" | "after, unheard";
  readonly how: Restart;
}

/**
 * What connections do when the platform restarts: they break, or hang without a word, or a proxy
 * keeps them.
 */
export type Restart = "loud" | "silent" | "proxied";
const RESTARTS: readonly Restart[] = ["loud", "silent", "proxied"];

/** What requests meet: a fault of CAUSES, of CONNECTS, or none. */
interface ActiveFault {
  readonly name: string;
  readonly path: RegExp;
  /** Of the requests that it could happen to. */
  readonly share: number;
}
const NO_FAULT: ActiveFault = { name: "clear", path: /./, share: 0 };

export class World {
  readonly seed: number;
  readonly dice: Dice;
  readonly clock = new FakeClock(WALL);
  readonly net: FakeNet;
  readonly platform: FakePlatform;
  /** When each request came, but for those with telemetry. */
  readonly requests: number[] = [];
  /** When the last RPC poll came. */
  polls = -1;
  /** Numbers of the points, in the order in which the platform took them. */
  readonly points: number[] = [];
  /** The connection that brought each, by the order in which the device opened them. */
  readonly broughtBy: number[] = [];
  /** By kind, as the device reported. */
  readonly dropped: Record<string, number> = {};
  readonly refusals = new Refusals();
  /** How often each fault was applied. */
  readonly applied = new Map<string, number>();
  /** Each connection has a delay of its own. */
  readonly apart: boolean;
  /** How often the platform restarted. */
  restarts = 0;
  /** Called with the id of an RPC that comes once more. */
  onCopy: ((id: number) => void) | undefined;
  /** Called when something on the way makes up an RPC, of id 1. */
  onMadeUp: (() => void) | undefined;
  /** Called when it does. */
  onRestart: (() => void) | undefined;
  /** The device's clock was months ahead at some time. */
  farAhead = false;
  /** What the request met that the platform got last. */
  met = "clear";
  /** Starts and ends of the device. */
  powerCycles = 0;
  onRequest: ((request: SeenRequest) => void) | undefined;
  readonly #bytes = createHash("sha256");
  /** Called with what is against a promise. */
  onProblem: ((what: string) => void) | undefined;
  #activeFault = NO_FAULT;
  /** That of the last request, in the order in which the device opened them. */
  #connection = 0;
  /** The last report of each kind. */
  readonly #reported = new Map<string, number>();
  readonly #powerCycleOf = new WeakMap<Peer, number>();
  readonly #broken = new WeakSet<Peer>();
  #trap: Trap | undefined;
  #stallMs: number | undefined;

  /** Of the device. */
  readonly connections: 1 | 2 | 3;
  /** The device's wakes have one connection for everything. */
  isOnOne = false;

  constructor(seed: number) {
    this.seed = seed;
    this.dice = new Dice(seed);
    const { dice } = this;
    this.connections = dice.pick([1, 2, 3]);
    const base = dice.chance(0.3) ? 150 : 5;
    this.apart = dice.chance(0.25);
    this.net = new FakeNet(this.clock, {
      latencyMs: this.apart ? () => dice.pick([1, 30, 150, 400]) : base,
      ...(dice.chance(0.08) && { segmentBytes: dice.pick([5, 20, 100]), readBytes: dice.pick([7, 100]) }),
      ...(dice.chance(0.1) && { writeBytes: 50 }),
    });
    this.platform = new FakePlatform(this.clock, this.net);
    this.platform.fault = (request) => this.#meet(request);
    this.net.onBytes = (bytes) => this.#bytes.update(bytes);
    this.#listen();
    this.platform.noteValues((key, value) => {
      if (key === "n") {
        this.points.push(value);
        this.broughtBy.push(this.#connection);
      }
      if (key.startsWith("moteDropped")) this.#note(key, value);
    });
  }

  get device() {
    return this.platform.core.devices.byName(NAME);
  }

  /** Of all bytes that went either way, in order. */
  get digest(): string {
    return this.#bytes.copy().digest("hex");
  }

  /**
   * What may have cost a device the acknowledgement of an answer to an RPC: of RPC `id`, or of any.
   */
  readonly #harm: { at: number; id: number | undefined; what: string }[] = [];

  /** What may have happened to the answer to RPC `id` between two times. */
  harmTo(id: number, from: number, to: number): string[] {
    const harm = this.#harm.filter((one) => one.at >= from && one.at <= to && (one.id ?? id) === id);
    return harm.map(({ what }) => what);
  }

  #harms(what: string, id?: number): void {
    this.#harm.push({ at: this.clock.now(), id, what });
  }

  count(fault: string): void {
    this.applied.set(fault, (this.applied.get(fault) ?? 0) + 1);
  }

  calm(): void {
    this.#activeFault = NO_FAULT;
    this.#trap = undefined;
    this.#stallMs = undefined;
  }

  /**
   * Requests meet another fault from now on, the one called `name` or any; returns its description.
   */
  changeFault(name?: string, only = /./): string {
    const { dice } = this;
    this.#activeFault = NO_FAULT;
    if (name === undefined && dice.chance(0.25)) return "clear";
    const picked = name ?? dice.pick(dice.chance(0.15) ? CONNECTS : CAUSE_NAMES);
    const path = name === undefined ? dice.pick(PATHS) : only;
    this.#activeFault = { name: picked, path, share: dice.pick([1, 1, 0.5]) };
    return `${picked} ${this.#activeFault.share} ${path}`;
  }

  /** All connections break, or hang without a word. */
  breakConnections(silent: boolean): void {
    this.#harms("break");
    for (const peer of this.net.peers) {
      if (peer.closed) continue;
      if (silent) deaden({ peer });
      else peer.reset();
    }
  }

  /** The device has not lost power since it opened the connection. */
  hasPower(peer: Peer): boolean {
    return this.powerCycles === this.#powerCycleOf.get(peer);
  }

  /** The other side ended it, or nothing gets through any more. */
  isBroken(peer: Peer): boolean {
    return this.#broken.has(peer) || peer.onData === undefined;
  }

  /** The platform restarts between two of the next messages. */
  setTrap(): void {
    const { dice } = this;
    const when = dice.pick(["before", "after", "after, unheard"] as const);
    this.#trap = { left: 1 + dice.below(12), when, how: dice.pick(RESTARTS) };
  }

  /**
   * With the next answer to an RPC a proxy begins to answer all for a while; the platform behind it
   * stands still, and then goes on.
   */
  stall(): void {
    this.#stallMs = this.dice.pick([20_000, 45_000, 90_000, 300_000]);
  }

  #stalled({ method, path }: SeenRequest): void {
    if (this.#stallMs === undefined || method !== "POST" || !ANSWER.test(path)) return;
    const stalled = { name: this.dice.pick(PROXIES), path: /./, share: 1 };
    this.#activeFault = stalled;
    this.clock.timer(this.#stallMs, () => {
      if (this.#activeFault === stalled) this.#activeFault = NO_FAULT;
    });
    this.#stallMs = undefined;
  }

  /**
   * Of an RPC poll on a connection of its own the second may come at any time: what it is taken for
   * HTTP/1.1 does not say.
   */
  #twice({ path, peer }: SeenRequest, bytes: Uint8Array): void {
    const { dice, clock } = this;
    const whole = this.net.options.segmentBytes === undefined;
    const hasOwn = this.connections > 1 && !this.isOnOne;
    const later = hasOwn && POLL.test(path) && (!whole || dice.chance(0.5));
    peer.send(whole && !later ? Buffer.concat([bytes, bytes]) : bytes);
    if (!later) return;
    clock.timer(dice.pick([1, 50, 2000, 20_000]), () => {
      if (peer.closed || this.isBroken(peer)) return;
      const id = /[{]"id":(-?[0-9]+),/.exec(Buffer.from(bytes).toString())?.[1];
      if (id !== undefined) this.onCopy?.(Number(id));
      peer.send(bytes);
    });
  }

  /** The platform forgets its polls and waiting RPCs, and begins with id 0 again. */
  restartPlatform(how: Restart = this.dice.pick(RESTARTS)): void {
    this.restarts++;
    this.#harms("restart");
    const { device } = this;
    if (how !== "proxied") this.breakConnections(how === "silent");
    this.count(`platform restarts, ${how}`);
    this.onRestart?.();
    if (!device) return;
    device.rpc.close();
    Object.assign(device, { rpc: new RpcActor(this.platform.core.clock) });
    device.notifications.forgetSubscribers();
    // What it had open ends; with nobody between nobody hears of it.
    for (const open of [...device.open]) (open as Exchange).answer(502);
  }

  /**
   * A total that goes down is that of a start that does not know of all before: what was in memory
   * only is not counted on.
   */
  #note(key: string, total: number): void {
    const before = this.#reported.get(key) ?? 0;
    this.#reported.set(key, total);
    this.dropped[key] = (this.dropped[key] ?? 0) + (total < before ? total : total - before);
  }

  #meet(request: SeenRequest): Fault {
    this.#connection = this.net.peers.indexOf(request.peer);
    if (!request.path.endsWith("telemetry")) this.requests.push(this.clock.now());
    if (POLL.test(request.path)) this.polls = this.clock.now();
    this.onRequest?.(request);
    this.#stalled(request);
    const { name, path, share } = this.#activeFault;
    const hit = CAUSES[name] && path.test(request.path) && this.#hits(share);
    const met = isPoisoned(request) ? "poisoned" : hit ? name : "clear";
    this.met = met;
    this.refusals.note(request, met, CONTENT.test(met));
    const cause = met === "poisoned" ? poisoned : CAUSES[met];
    if (!cause) return this.#sprung(request);
    this.count(met);
    // A fault of another request may break a connection that both use.
    if (ANSWER.test(request.path)) this.#harms(`answer: ${met}`, Number(request.path.split("/").at(-1)));
    else this.#harms(met);
    if (met === "JSON of depth 10,000") this.onMadeUp?.();
    if (ENDLESS.includes(met)) this.#expectEnd(request.peer, deadlineOf(request), `${met} ${request.path}`);
    const twice = (answer: Uint8Array) => this.#twice(request, answer);
    const inPieces = this.net.options.segmentBytes !== undefined;
    return cause(request, { peer: request.peer, dice: this.dice, clock: this.clock, twice, inPieces });
  }

  #sprung({ peer }: SeenRequest): Fault {
    const trap = this.#trap;
    if (!trap || --trap.left > 0) return undefined;
    this.#trap = undefined;
    this.met = "restart";
    this.count(`restart between two messages, ${trap.when}`);
    if (trap.when === "before") {
      this.restartPlatform(trap.how);
      return trap.how === "proxied" ? undefined : "hang";
    }
    const answer = (bytes: Uint8Array) => {
      if (trap.when === "after") peer.send(bytes);
      this.restartPlatform(trap.how);
      if (trap.when === "after, unheard" && trap.how === "proxied") peer.reset();
    };
    return { answer };
  }

  #hits(share: number): boolean {
    return share > 0 && (share === 1 || this.dice.chance(share));
  }

  /** The device gives the connection up by itself. */
  #expectEnd(peer: Peer, withinMs: number, what: string): void {
    this.clock.timer(withinMs, () => {
      if (!peer.closed && this.hasPower(peer)) this.onProblem?.(`still open after its deadline: ${what}`);
    });
  }

  #watch(peer: Peer): void {
    const { reset, end } = peer;
    const breaks = <T extends unknown[]>(how: (...args: T) => void) => {
      return (...args: T) => {
        this.#broken.add(peer);
        how.apply(peer, args);
      };
    };
    Object.assign(peer, { reset: breaks(reset), end: breaks(end) });
  }

  #listen(): void {
    const serve = this.net.onConnect;
    this.net.onConnect = (peer) => {
      this.#powerCycleOf.set(peer, this.powerCycles);
      this.#watch(peer);
      if (peer.name !== "platform.test" || peer.port !== 80)
        this.onProblem?.(`a connection to ${peer.name}:${peer.port}`);
      const { name, share } = this.#activeFault;
      if (!(CONNECTS as readonly string[]).includes(name) || !this.#hits(share))
        return serve?.(peer) as false | undefined;
      this.count(name);
      if (name === "unreachable") this.#expectEnd(peer, CONNECT_WITHIN_MS, name);
      else peer.reset(name === "refused" ? "connection refused" : "name not found");
      return false;
    };
  }
}

const POLL = /rpc\?timeout/;
const ANSWER = /rpc\/-?\d+$/;
const PROXIES = ["proxy 502", "proxy 503", "proxy 504"];
const ASKED = /\?timeout=(\d+)/;

/** Points and client attributes, for which a slow link gets longer. */
const BODY = /\/(?:telemetry|attributes)$/;
const PATIENT_MS = 5 * 35_000;

/** ms after which a request's connection is closed at the latest, if nothing comes back. */
function deadlineOf({ path }: SeenRequest): number {
  const asked = ASKED.exec(path);
  if (asked) return Number(asked[1]) + 15_000 + SLACK_MS;
  return (BODY.test(path) ? PATIENT_MS : 35_000) + SLACK_MS;
}
