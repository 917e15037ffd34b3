// One device of the fleet: an agent whose store is in memory, a sampler, and what is counted of it.
import { randomFillSync } from "node:crypto";
import { clock } from "../../../hosts/node/clock.js";
import { digest } from "../../../hosts/node/digest.js";
import { decode, encode } from "../../../hosts/node/text.js";
import { none } from "../../../hosts/none.js";
import { Agent, type AgentOptions, MoteError } from "../../../src/index.js";
import type { Host, Store } from "../../../src/port.js";

/** Small, as on a board: a fleet of thousands shares one process. */
const BATCH = { batchBytes: 1_024, batchPoints: 20 };
/** What a point of this sampler takes in memory, at most. */
const POINT_BYTES = 64;
const LEAST_BYTES = 1_024;
const MOST_BYTES = 16_777_216;

export interface MemberOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly provisioning: { readonly key: string; readonly secret: string };
  readonly connections: 1 | 2 | 3;
  /** Between two points, in milliseconds. */
  readonly intervalMs: number;
  /** How long points are kept during an outage, in ms; determines the reserved memory. */
  readonly keepMs: number;
  readonly open: Host["open"];
  readonly log: Host["log"];
}

export class Member {
  readonly name: string;
  readonly agent: Agent;
  recorded = 0;
  delivered = 0;
  dropped = 0;
  /** The platform made a device of it. */
  isMade = false;
  /** Why the platform refuses it. */
  refused: string | undefined;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.#intervalMs = options.intervalMs;
    this.agent = new Agent(new MemberHost(options), agentOptions(options));
    this.agent.on("delivered", ({ points }) => {
      this.delivered += points;
    });
    this.agent.on("drop", ({ points }) => {
      this.dropped += points;
    });
    this.agent.on("provisioned", () => {
      this.isMade = true;
    });
    this.agent.on("refused", ({ reason }) => {
      this.refused = reason;
    });
    this.agent.on("online", () => {
      this.refused = undefined;
    });
  }

  start(): void {
    this.agent.start();
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), this.#intervalMs);
  }

  stop(): Promise<unknown> {
    clearInterval(this.#timer);
    return this.agent.stop();
  }

  #sample(): void {
    try {
      if (this.agent.telemetry.record({ count: this.recorded, temperature: 20 + (this.recorded % 100) / 10 }))
        this.recorded++;
    } catch (error) {
      if (!(error instanceof MoteError)) throw error;
      this.dropped++;
    }
  }
}

function agentOptions(options: MemberOptions): AgentOptions {
  const { name, baseUrl, provisioning, connections, intervalMs, keepMs } = options;
  const bytes = POINT_BYTES * Math.ceil(keepMs / intervalMs);
  const bufferBytes = Math.min(MOST_BYTES, Math.max(LEAST_BYTES, bytes));
  const telemetry = { ...BATCH, bufferBytes };
  // Written out: a spread object has a shape of its own.
  const { key, secret } = provisioning;
  return { baseUrl, connections, provisioning: { key, secret, deviceName: name }, telemetry };
}

/** What one device has of its own; the rest is shared, as thousands of these share a process. */
class MemberHost implements Host {
  readonly clock = clock;
  readonly open: Host["open"];
  readonly digest = digest;
  readonly encode = encode;
  readonly decode = decode;
  readonly log: Host["log"];
  readonly store = new MemberStore();
  readonly hardwareId: string;
  readonly blocks = none.blocks;
  readonly slot = none.slot;

  constructor({ name, open, log }: MemberOptions) {
    this.open = open;
    this.log = log;
    this.hardwareId = name.slice(-32);
  }

  random(into: Uint8Array): void {
    randomFillSync(into);
  }

  restart(): void {}
}

class MemberStore implements Store {
  readonly #values = new Map<string, Uint8Array>();

  get(key: string): Uint8Array | undefined {
    return this.#values.get(key);
  }

  set(key: string, value: Uint8Array): boolean {
    this.#values.set(key, value.slice());
    return true;
  }

  delete(key: string): boolean {
    this.#values.delete(key);
    return true;
  }
}
