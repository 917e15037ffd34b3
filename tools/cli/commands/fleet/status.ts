// The status and summary of `mote fleet`.
import type { RecordableHistogram } from "node:perf_hooks";
import type { Count, Fleet } from "../../../fleet/fleet.js";
import type { RpcProbe } from "../../../fleet/rpc-probe.js";
import { size } from "../../output/size.js";

export interface Summary extends Count {
  /** Devices that the platform refuses at the end. */
  refused: number;
  seconds: number;
  pointsPerSecond: number;
  waiting: number;
  rpcs: number;
  rpcsFailed: number;
  rpcP50Ms: number | null;
  rpcP99Ms: number | null;
  /** Resident memory of the process. */
  rssBytes: number;
  /** Growth of the resident memory since the start, per agent. */
  kibPerAgent: number;
}

export class FleetStatus {
  readonly #fleet: Fleet;
  readonly #probe: RpcProbe | undefined;
  readonly #before: number;
  #last = 0;
  #at = performance.now();

  constructor(fleet: Fleet, probe: RpcProbe | undefined, before: number) {
    this.#fleet = fleet;
    this.#probe = probe;
    this.#before = before;
  }

  lines(): string[] {
    const { devices, started, online, connections, retries, recorded, delivered, dropped } =
      this.#fleet.count();
    const refused = this.#fleet.refused === 0 ? "" : `  refused ${this.#fleet.refused}`;
    return [
      `devices ${devices}  started ${started}  online ${online}${refused}  connections ${connections}  broken ${retries}`,
      `points/s ${this.#rate(delivered)}  delivered ${delivered}  waiting ${recorded - delivered - dropped}  dropped ${dropped}`,
      `RPC ${this.#latency()}`,
      `memory ${size(process.memoryUsage.rss())}, ${this.#kib(devices)} KiB per agent`,
    ];
  }

  summary(seconds: number): Summary {
    const { refused } = this.#fleet;
    const counted = this.#fleet.count();
    const times = this.#probe?.times;
    return {
      ...counted,
      refused,
      seconds: Math.round(seconds),
      pointsPerSecond: Math.round(counted.delivered / seconds),
      waiting: counted.recorded - counted.delivered - counted.dropped,
      rpcs: times?.count ?? 0,
      rpcsFailed: this.#probe?.failed ?? 0,
      rpcP50Ms: percentile(times, 50),
      rpcP99Ms: percentile(times, 99),
      rssBytes: process.memoryUsage.rss(),
      kibPerAgent: this.#kib(counted.devices),
    };
  }

  #rate(delivered: number): number {
    const now = performance.now();
    const rate = ((delivered - this.#last) * 1_000) / (now - this.#at);
    this.#last = delivered;
    this.#at = now;
    return Math.round(rate);
  }

  #latency(): string {
    if (!this.#probe) return "not measured (no login)";
    const { times, failed } = this.#probe;
    return `p50 ${percentile(times, 50) ?? "-"} ms  p99 ${percentile(times, 99) ?? "-"} ms  failed ${failed}`;
  }

  #kib(devices: number): number {
    return Math.max(0, Math.round((process.memoryUsage.rss() - this.#before) / 1024 / devices));
  }
}

/** Converts microseconds to milliseconds; null without samples. */
function percentile(times: RecordableHistogram | undefined, percent: number): number | null {
  return times?.count ? Math.round(times.percentile(percent) / 100) / 10 : null;
}
