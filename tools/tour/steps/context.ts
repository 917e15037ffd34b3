import type { Operator } from "../../operator/operator.js";
import type { LoggedRequest } from "../../operator/shapes.js";
import { type Step, until } from "../tour.js";

/** The device that is shown: it can be stopped, and started again on the same state. */
export interface ShownAgent {
  start(timestamps: "device" | "platform"): unknown;
  stop(): Promise<void>;
}

/** What the steps of the tour work with. */
export interface Tour {
  readonly url: string;
  readonly deviceName: string;
  /** The device's own interval between two points. */
  readonly intervalMs: number;
  /** The tenant. */
  readonly operator: Operator;
  readonly customer: Operator;
  readonly agent: ShownAgent;
  /** When the agent was started, in milliseconds since 1970. */
  readonly startedAt: number;
  /** Where the bytes of firmware 2.0.0 are. */
  readonly nextImage: string;
}

export type TourStep = Step<Tour>;

/** A title, what to do, and, for what takes longer, a limit in milliseconds. */
export function step(title: string, run: TourStep["run"], limitMs?: number): TourStep {
  return { title, run, ...(limitMs !== undefined && { limitMs }) };
}

export async function deviceId(tour: Tour): Promise<string> {
  const device = await tour.operator.devices.byName(tour.deviceName);
  if (!device) throw new Error("the device does not exist");
  return device.id.id;
}

/** A two-way RPC to the device. */
export async function ask(tour: Tour, method: string, params: unknown): Promise<Record<string, unknown>> {
  const answer = await tour.operator.rpc.twoWay(await deviceId(tour), method, params);
  if (typeof answer !== "object" || answer === null) throw new Error(`${method} was answered with no object`);
  return answer as Record<string, unknown>;
}

/** Waits until the platform holds this value as a client attribute of the device. */
export async function untilClient(
  tour: Tour,
  signal: AbortSignal,
  key: string,
  value: unknown,
): Promise<void> {
  const id = await deviceId(tour);
  await until(
    signal,
    async () => (await tour.operator.attributes.get(id, "CLIENT_SCOPE", [key]))[key] === value,
    50,
  );
}

/** The device API's requests since `ts` (milliseconds since 1970). */
export async function requestsSince(tour: Tour, ts: number): Promise<LoggedRequest[]> {
  return (await tour.operator.requests()).filter((entry) => entry.ts >= ts);
}

export function check(good: boolean, otherwise: string): asserts good {
  if (!good) throw new Error(otherwise);
}

export function since(ts: number): string {
  return `${group(Math.round(Date.now() - ts))} ms`;
}

/** 12345 -> `12,345` */
export function group(count: number): string {
  return count.toLocaleString("en-GB");
}
