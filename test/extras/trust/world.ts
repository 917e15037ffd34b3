// A platform behind TLS whose certificates change over the years, and devices that judge them: the agent and extras/trust are real, the
// connections are in memory.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { ExecutionContext } from "ava";
import { type RenewTrust, renewTrust } from "../../../extras/trust/trust.js";
import type { InitialTrust } from "../../../extras/trust/trusted.js";
import { Agent, type AgentOptions } from "../../../src/index.js";
import type { Host } from "../../../src/port.js";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, idOf, piecesOf, stale } from "../../../tools/cli/commands/trust/announce.js";
import { FakePlatform } from "../../fakes/platform.js";
import { Power, type PowerLoss } from "../../fakes/power.js";
import { PoweredDevice, type PoweredHost } from "../../fakes/powered-device.js";
import { der, type Issued } from "./x509/authority.js";
import type { Shown } from "./x509/changes.js";
import { refusal } from "./x509/judge.js";

export const URL = "https://localhost";
export const MINUTE = 60_000;
export const DAY = 86_400_000;
export const PRODUCT = "lamp";
const TOKEN = "token-of-a-test";

/** The beginning of its id, as operators and devices write it. */
export const short = (one: Issued): string => idOf(der(one)).slice(0, 16);
export const newKey = (): KeyObject => generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;

export interface Wanted {
  readonly ca?: readonly Issued[];
  readonly drop?: readonly string[];
  readonly product?: string;
}

export class World {
  readonly body = new PoweredDevice();
  readonly clock = this.body.clock;
  readonly platform = new FakePlatform(this.clock, this.body.net);
  readonly device = this.platform.create("greenhouse-7", TOKEN);
  /** What the server shows now; undefined: it is out of reach. */
  shown: Shown | undefined;
  /** Of the firmware. */
  readonly key = newKey();
  publicKey: string | undefined = signImage(this.key, new Uint8Array()).publicKey;
  /** Whom the device was given: the image's, or its owner's. */
  given: readonly Issued[];
  isCommissioned = false;
  /** Handshakes that succeeded though nobody of the server's is trusted by anybody. */
  accepted = 0;
  /** TLS comes to no handshake with it among those that are trusted. */
  unreadable: Issued | undefined;
  /** For each handshake the CAs that it trusted. */
  readonly handshakes: (readonly Uint8Array[])[] = [];
  /** Of the image. */
  renewTrust: RenewTrust = renewTrust;
  agent: Agent | undefined;
  host: PoweredHost | undefined;
  power = new Power();

  constructor(shown: Shown, given: readonly Issued[]) {
    this.clock.setWall(Date.now());
    this.shown = shown;
    this.given = given;
  }

  /** The device starts, on what it kept. The power goes at `loss`. */
  start(loss?: PowerLoss): void {
    this.make({}, loss).start();
  }

  /** One wake of a device that sleeps; the milliseconds that it took. */
  async wake(): Promise<number> {
    const agent = this.make({ cycle: { everyMs: MINUTE, connectEvery: 1 } });
    const start = this.clock.now();
    await this.clock.untilSettled(agent.runOnce({ sample: () => ({ n: 1 }) }));
    return this.clock.now() - start;
  }

  make(more: Partial<AgentOptions>, loss?: PowerLoss): Agent {
    this.power = new Power(loss);
    const host = this.body.start(this.power);
    this.host = host;
    const { given, isCommissioned } = this;
    const authorities = given.map(der);
    const open = (list: readonly Uint8Array[]): Host["open"] => this.#open(host, list);
    const how: InitialTrust = { authorities, isBuiltIn: false, isCommissioned, open };
    const renewal = this.renewTrust(host, how);
    const options: AgentOptions = {
      baseUrl: URL,
      token: TOKEN,
      firmware: { title: PRODUCT, version: "1.0.0", publicKey: this.publicKey },
      ...more,
    };
    const agent = new Agent({ ...host, open: renewal.open }, options);
    renewal.attach(agent);
    this.agent = agent;
    return agent;
  }

  /** Starts the device for a test: it comes online, and a minute passes. */
  async online(t: ExecutionContext): Promise<this> {
    t.teardown(() => this.end());
    this.start();
    t.true(await this.reaches());
    await this.clock.advance(MINUTE);
    return this;
  }

  /** Short ids of the CAs that the device trusts. */
  get trusted(): string[] {
    return this.state.trusts.map(({ sha256 }) => sha256);
  }

  /** As a power loss. */
  async restart(): Promise<void> {
    await this.end();
    this.start();
  }

  async end(): Promise<void> {
    const stopped = this.agent?.stop().catch((error: unknown) => {
      if (this.power.on) throw error;
    });
    await this.clock.advance(3_000);
    await stopped;
  }

  /** What `mote trust push` does. */
  push({ ca = [], drop = [], product = PRODUCT }: Wanted): number {
    const certificates = ca.map(der);
    const there = this.platform.attributes(this.device, "SHARED_SCOPE");
    const made = announce(there.moteTrust, { product, certificates, drop }, this.key, this.clock.wall());
    const pieces = piecesOf(made, certificates);
    for (const [name, piece] of Object.entries(pieces))
      this.platform.setShared(this.device, { [name]: piece });
    this.platform.setShared(this.device, { moteTrust: made });
    const left = stale(made, Object.keys(there));
    if (left.length > 0) this.platform.deleteShared(this.device, left);
    return made.sequence;
  }

  /** Pushes, and leaves the device a minute. */
  async pushed(wanted: Wanted): Promise<number> {
    const sequence = this.push(wanted);
    await this.clock.advance(MINUTE);
    return sequence;
  }

  get state(): {
    sequence: number;
    trusts: { sha256: string; ends?: string }[];
    waiting?: string[];
    refused?: { reason: string };
  } {
    return this.platform.attributes(this.device).moteTrustState as never;
  }

  get warning(): unknown {
    return this.platform.attributes(this.device).moteTrustWarning;
  }

  /** True if it comes online in time. */
  async reaches(withinMs = 60 * MINUTE): Promise<boolean> {
    try {
      await this.clock.runUntil(() => this.agent?.state === "online", withinMs);
      return true;
    } catch {
      return false;
    }
  }

  /** Restarts it while the server shows `by`, from then on. True if it comes online in time. */
  async isReached(by: Shown, withinMs = 10 * MINUTE): Promise<boolean> {
    this.shown = by;
    await this.restart();
    return this.reaches(withinMs);
  }

  #open(host: Pick<Host, "clock" | "open">, authorities: readonly Uint8Array[]): Host["open"] {
    return (name, port, secure, event) => {
      const { shown } = this;
      const why = shown ? this.#judge(shown, name, authorities) : "no route";
      this.handshakes.push(authorities);
      if (why === undefined) return host.open(name, port, secure, event);
      const cancel = host.clock.timer(1, () => event("closed", why));
      return { write: () => 0, read: () => 0, close: cancel };
    };
  }

  #judge(shown: Shown, name: string, authorities: readonly Uint8Array[]): string | undefined {
    const unreadable = this.unreadable && der(this.unreadable).toString();
    if (authorities.some((one) => one.toString() === unreadable)) return "certificate: malformed";
    const why = refusal(shown.chain.map(der), name, authorities, this.clock.wall() ?? 0);
    if (why === undefined && shown.by.length === 0) this.accepted++;
    return why;
  }
}
