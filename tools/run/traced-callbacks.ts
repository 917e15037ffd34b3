// Says where a program's callback threw: the agent's answers and log lines have only the message.
import { isPromise } from "node:util/types";
import type { Agent } from "../../src/index.js";

type Call = (...args: never[]) => unknown;
type Report = (line: string) => void;
/** Frames that are shown. */
const FRAMES = 3;
const MESSAGE = 200;
/** Mote's own frames say nothing about the program. */
const MOTE = new URL("../..", import.meta.url).href;

/** Reports what RPC handlers, subscribers and listeners of the agent throw, with the place. */
export function traceCallbacks(agent: Agent, report: Report): void {
  trace(agent.rpc, "handle", report, (method) => `handler of ${method}`);
  trace(agent.attributes, "subscribe", report, (key) => `subscriber of ${key}`);
  trace(agent, "on", report, (event) => `listener of ${event}`);
}

function trace<K extends string>(
  owner: { [key in K]: (name: never, call: never, ...more: never[]) => unknown },
  method: K,
  report: Report,
  nameOf: (name: string) => string,
): void {
  const original = (owner[method] as (name: unknown, call: unknown, ...more: unknown[]) => unknown).bind(
    owner,
  );
  const traced = (name: unknown, call: unknown, ...more: unknown[]): unknown =>
    original(
      name,
      typeof call === "function" ? wrapped(call as Call, nameOf(String(name)), report) : call,
      ...more,
    );
  Object.defineProperty(owner, method, { value: traced });
}

function wrapped(call: Call, name: string, report: Report): Call {
  const tell = (error: unknown): never => {
    report(`${name} threw ${describe(error)}`);
    throw error;
  };
  return (...args) => {
    try {
      const result = call(...args);
      return isPromise(result) ? result.catch(tell) : result;
    } catch (error) {
      return tell(error);
    }
  };
}

/** `RangeError: too far (at inner (/greenhouse/main.ts:8:9), at /greenhouse/main.ts:12:30)` */
export function describe(error: unknown): string {
  if (!(error instanceof Error)) return "a value that is not an Error";
  try {
    return described(error);
  } catch {
    return "an Error that cannot be read";
  }
}

/** The program may have given its members other types. */
function described(error: Error): string {
  const lines = `${error.stack}`.split("\n").map((line) => line.trim());
  const frames = lines
    .filter((line) => line.startsWith("at ") && !line.includes("node:"))
    .filter((line) => !line.includes(MOTE))
    .slice(0, FRAMES)
    .map((line) => line.replace("file://", ""));
  return `${error.name}: ${`${error.message}`.slice(0, MESSAGE)}${frames.length > 0 ? ` (${frames.join(", ")})` : ""}`;
}
