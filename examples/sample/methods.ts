import type { AppHost } from "../../hosts/device/application.js";
import type { Agent } from "../../src/index.js";

/** What the methods may ask of the application. */
export interface SampleApplication {
  status(): Record<string, unknown>;
  setLed(on: boolean): Record<string, unknown>;
  /** Records a reading. */
  sample(): void;
  /** Records how the device does: other keys than a reading's. */
  health(): void;
}

const MOST_POINTS = 5_000;
/** For a handler that waits until its points are delivered; the platform waits 10 s for its answer by default. */
const FLUSH_MS = 4_000;

/** The server-side RPC methods of the sample application. A wrong parameter throws, and the caller reads why. */
export const handleMethods = (
  agent: Agent,
  host: Pick<AppHost, "clock">,
  application: SampleApplication,
): void => {
  agent.rpc.handle("setLed", (params) => application.setLed(member(params, "on", "boolean") as boolean));
  agent.rpc.handle("getStatus", () => application.status());
  agent.rpc.handle("echo", (params) => params);
  agent.rpc.handle("burst", (params) => {
    const points = member(params, "points", "number") as number;
    if (!Number.isInteger(points) || points < 1 || points > MOST_POINTS) {
      throw new RangeError(`points: a whole number from 1 to ${MOST_POINTS}`);
    }
    return sendApart(agent, () => {
      for (let n = 0; n < points; n++) application.sample();
    });
  });
  agent.rpc.handle("report", () =>
    sendApart(agent, () => {
      application.sample();
      application.health();
    }),
  );
  handleOwnCalls(agent, host);
};

/** Has what `record` records leave at once and by itself: what waited before goes first. */
async function sendApart(agent: Agent, record: () => void): Promise<{ delivered: boolean }> {
  await agent.flush({ timeoutMs: FLUSH_MS });
  record();
  const { dropped, waiting } = await agent.flush({ timeoutMs: FLUSH_MS });
  return { delivered: dropped + waiting === 0 };
}

/** What a device asks of the platform by itself, set off from the platform's side, so that an operator sees what came of it. */
const handleOwnCalls = (agent: Agent, host: Pick<AppHost, "clock">): void => {
  agent.rpc.handle("callPlatform", async (params) => {
    const method = optional(params, "method", "string") as string | undefined;
    const began = host.clock.now();
    const answer = await agent.rpc.call(
      method ?? "getCurrentTime",
      optional(params, "params", "object") ?? {},
    );
    return { answer, ms: Math.round(host.clock.now() - began) };
  });
  agent.rpc.handle("readAttributes", async (params) => {
    const clientKeys = keys(params, "clientKeys");
    const sharedKeys = keys(params, "sharedKeys");
    return agent.attributes.read({ ...(clientKeys && { clientKeys }), ...(sharedKeys && { sharedKeys }) });
  });
  agent.rpc.handle("claim", async (params) => {
    const secretKey = optional(params, "secretKey", "string") as string | undefined;
    const durationMs = optional(params, "durationMs", "number") as number | undefined;
    await agent.claim({
      ...(secretKey !== undefined && { secretKey }),
      ...(durationMs !== undefined && { durationMs }),
    });
    return { claiming: true };
  });
};

const member = (params: unknown, name: string, type: "boolean" | "number"): unknown => {
  const value = optional(params, name, type);
  if (value === undefined) throw new TypeError(`${name}: missing`);
  return value;
};

const optional = (params: unknown, name: string, type: string): unknown => {
  if (typeof params !== "object" || params === null || !Object.hasOwn(params, name)) return undefined;
  const value = (params as Record<string, unknown>)[name];
  const found = value === null ? "null" : typeof value;
  if (found !== type) throw new TypeError(`${name}: a value of type ${type} is wanted`);
  return value;
};

const keys = (params: unknown, name: string): string[] | undefined => {
  const list = optional(params, name, "object");
  if (list === undefined) return undefined;
  const good = Array.isArray(list) && list.every((key) => typeof key === "string");
  if (!good) throw new TypeError(`${name}: a list of keys is wanted`);
  return list as string[];
};
