// Many agents in one process, each its own device, started at random times.

import type { Host } from "../../../src/port.js";
import { Member, type MemberOptions } from "./member.js";
import { SimulatedNetwork } from "./simulated-network.js";

export interface FleetOptions extends Omit<MemberOptions, "name" | "open"> {
  readonly devices: number;
  /** Devices are called by it and their number. */
  readonly prefix: string;
  /** All have started after so long, in milliseconds. */
  readonly rampMs: number;
  readonly open: Host["open"];
}

/** What the fleet did so far. */
export interface Count {
  readonly devices: number;
  readonly started: number;
  readonly online: number;
  readonly recorded: number;
  readonly delivered: number;
  readonly dropped: number;
  /** Connections that did not come about or broke, and had to be made again. */
  readonly retries: number;
  readonly connections: number;
}

export class Fleet {
  readonly members: readonly Member[];
  readonly network: SimulatedNetwork;
  readonly #rampMs: number;
  readonly #timers = new Set<NodeJS.Timeout>();
  #started = 0;

  constructor(options: FleetOptions) {
    this.network = new SimulatedNetwork(options.open);
    this.#rampMs = options.rampMs;
    const digits = String(options.devices - 1).length;
    this.members = Array.from(
      { length: options.devices },
      (_, number) =>
        new Member({
          ...options,
          open: this.network.open,
          name: `${options.prefix}${String(number).padStart(digits, "0")}`,
        }),
    );
  }

  start(): void {
    for (const member of this.members) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#started++;
        member.start();
      }, Math.random() * this.#rampMs);
      this.#timers.add(timer);
    }
  }

  async stop(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.members.map((member) => member.stop()));
  }

  /** How many devices the platform made. */
  get made(): number {
    return this.members.filter(({ isMade }) => isMade).length;
  }

  /** How many devices the platform refuses. */
  get refused(): number {
    return this.members.filter(({ refused }) => refused !== undefined).length;
  }

  /** The first reason for which it refuses one. */
  get refusal(): string | undefined {
    return this.members.find(({ refused }) => refused !== undefined)?.refused;
  }

  count(): Count {
    const sum = (of: (member: Member) => number): number =>
      this.members.reduce((total, member) => total + of(member), 0);
    return {
      devices: this.members.length,
      started: this.#started,
      online: sum(({ agent }) => (agent.state === "online" ? 1 : 0)),
      recorded: sum((member) => member.recorded),
      delivered: sum((member) => member.delivered),
      dropped: sum((member) => member.dropped),
      retries: this.network.broken,
      connections: this.network.connections,
    };
  }
}
