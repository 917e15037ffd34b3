// One device of the fleet: an agent whose store is in memory, a sampler, and what is counted of it.
import { randomFillSync } from "node:crypto";
import { Agent, type AgentOptions, MoteError } from "../../src/index.js";
import type { Host } from "../../src/port.js";
import { clock } from "../node/clock.js";
import { digest } from "../node/digest.js";
import { decode, encode } from "../node/text.js";
import { none } from "../none.js";

/** Small, as on a board: a fleet of thousands shares one process. */
const TELEMETRY = { bufferBytes: 4_096, batchBytes: 2_048, batchPoints: 25 };

export interface MemberOptions {
  readonly name: string;
  readonly baseUrl: string;
  readonly provisioning: { readonly key: string; readonly secret: string };
  readonly connections: 1 | 2 | 3;
  /** Between two points, in milliseconds. */
  readonly intervalMs: number;
  readonly open: Host["open"];
  readonly log: Host["log"];
}

export class Member {
  readonly name: string;
  readonly agent: Agent;
  recorded = 0;
  delivered = 0;
  dropped = 0;
  /** RPCs answered. */
  answered = 0;
  /** Why the platform refuses it. */
  refused: string | undefined;
  readonly #intervalMs: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: MemberOptions) {
    this.name = options.name;
    this.#intervalMs = options.intervalMs;
    this.agent = new Agent(hostOf(options), agentOptions(options));
    this.agent.on("delivered", ({ points }) => {
      this.delivered += points;
    });
    this.agent.on("drop", ({ points }) => {
      this.dropped += points;
    });
    this.agent.on("refused", ({ reason }) => {
      this.refused = reason;
    });
    this.agent.on("online", () => {
      this.refused = undefined;
    });
    this.agent.rpc.handle("ping", (params) => {
      this.answered++;
      return params ?? null;
    });
  }

  start(): void {
    this.agent.start();
    this.#sample();
    this.#timer = setInterval(() => this.#sample(), this.#intervalMs);
  }

  stop(): Promise<void> {
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

function agentOptions({ name, baseUrl, provisioning, connections }: MemberOptions): AgentOptions {
  return { baseUrl, connections, provisioning: { ...provisioning, deviceName: name }, telemetry: TELEMETRY };
}

function hostOf({ name, open, log }: MemberOptions): Host {
  const values = new Map<string, Uint8Array>();
  return {
    ...none,
    clock,
    open,
    digest,
    encode,
    decode,
    log,
    store: {
      get: (key) => values.get(key),
      set: (key, value) => values.set(key, value.slice()) === values,
      delete: (key) => values.delete(key) || true,
    },
    random: (into) => void randomFillSync(into),
    hardwareId: name.slice(-32),
  };
}
