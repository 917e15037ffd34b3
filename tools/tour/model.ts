import type { ChildEvent } from "./processes.js";

/** State of the live view. Times are milliseconds since 1970. */
export interface Model {
  url: string;
  device: string;
  /** Running firmware. */
  firmware: string;
  state: string;
  delivered: number;
  dropped: number;
  /** Latest telemetry, by key. */
  values: Readonly<Record<string, unknown>>;
  rpc?: { method: string; id: number; outcome: string; at: number };
  attributes?: { keys: string[]; deleted: string[]; at: number };
  update?: { version: string; state: string; percent?: number; error?: string };
  /** The last problem. */
  trouble: string;
}

export function freshModel(url: string, device: string): Model {
  return { url, device, firmware: "", state: "starting", delivered: 0, dropped: 0, values: {}, trouble: "" };
}

/** The model after an event of `mote run --log json`. */
export function apply(model: Model, event: ChildEvent, now: number): Model {
  const change = Object.hasOwn(CHANGES, event.event) ? CHANGES[event.event] : undefined;
  return change ? { ...model, ...change(model, event, now) } : model;
}

type Change = (model: Model, event: ChildEvent, now: number) => Partial<Model>;

const CHANGES: Record<string, Change | undefined> = {
  started: (_, event) => ({
    state: "starting",
    firmware: `${text(event.title)} ${text(event.version)}`.trim(),
  }),
  // The platform answered already: this comes after online.
  provisioned: (model, event) => ({ device: text(event.deviceName) || model.device }),
  online: () => ({ state: "online", trouble: "" }),
  offline: (_, event) => ({ state: "offline", trouble: text(event.reason) }),
  refused: (_, event) => ({ state: "refused", trouble: text(event.reason) || text(event.what) }),
  "telemetry.delivered": (model, event) => ({ delivered: model.delivered + number(event.points) }),
  "telemetry.dropped": (model, event) => ({
    dropped: model.dropped + number(event.points),
    trouble: `points dropped: ${text(event.reason)}`,
  }),
  "attributes.changed": (_, event, at) => ({
    attributes: { keys: list(event.keys), deleted: list(event.deleted), at },
  }),
  "rpc.received": (_, event, at) => ({
    rpc: { method: text(event.method), id: number(event.id), outcome: "running", at },
  }),
  "rpc.answered": (model, event, at) => answered(model, event, at),
  "firmware.state": (model, event) => ({ update: update(model, event) }),
  restart: (_, event) => ({ state: "restarting", trouble: text(event.reason) }),
  crash: (_, event) => ({ state: "restarting", trouble: text(event.reason) || "the agent's process ended" }),
  "firmware.fallback": (_, event) => ({ trouble: `back to the firmware before: ${text(event.reason)}` }),
  log: (_, event) => (event.level === "info" ? {} : { trouble: text(event.line) }),
  stopped: () => ({ state: "stopped" }),
};

function answered(model: Model, event: ChildEvent, at: number): Partial<Model> {
  const method = text(event.method) || model.rpc?.method || "";
  const error = text(event.error);
  return {
    rpc: { method, id: number(event.id), outcome: error === "" ? "answered" : `answered ${error}`, at },
  };
}

function update(model: Model, event: ChildEvent): NonNullable<Model["update"]> {
  const state = text(event.state);
  const version = text(event.version);
  const before = model.update?.version === version ? model.update.percent : undefined;
  const percent = typeof event.progress === "number" ? event.progress : before;
  const error = text(event.error);
  return { state, version, ...(percent !== undefined && { percent }), ...(error !== "" && { error }) };
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function number(value: unknown): number {
  return typeof value === "number" ? value : Number(value) || 0;
}

function list(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
