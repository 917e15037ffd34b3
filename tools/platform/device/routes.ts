import { attributeUpdates, publishAttributes, readAttributes } from "./attributes.js";
import { claim } from "./claim.js";
import type { Exchange } from "./exchange.js";
import { bindPackage, readPackage } from "./firmware.js";
import { bindPoll } from "./numbers.js";
import { provision } from "./provision.js";
import { answerRpc, bindAnswer, callRpc, pollRpc } from "./rpc.js";
import { postTelemetry } from "./telemetry.js";

/** What one method of one path does. */
export interface Route {
  readonly run: (exchange: Exchange) => void;
  /** Reads the parameters; the message of a 400 if they are wrong. */
  readonly bind?: (exchange: Exchange) => string | undefined;
  /** An empty body is a 400. */
  readonly needsBody?: boolean;
}

export type Methods = { readonly GET?: Route; readonly POST?: Route };

/** By what follows the token in the path; `:id` stands for one segment. */
const ROUTES: Record<string, Methods> = {
  telemetry: { POST: { run: postTelemetry, needsBody: true } },
  attributes: {
    GET: { run: readAttributes },
    POST: { run: publishAttributes, needsBody: true },
  },
  "attributes/updates": { GET: { run: attributeUpdates, bind: bindPoll } },
  rpc: {
    GET: { run: pollRpc, bind: bindPoll },
    POST: { run: callRpc, needsBody: true },
  },
  "rpc/:id": {
    POST: { run: answerRpc, bind: bindAnswer, needsBody: true },
  },
  claim: { POST: { run: claim } },
  firmware: { GET: { run: readPackage, bind: bindPackage } },
};

const PROVISION: Methods = { POST: { run: provision, needsBody: true } };

export interface Target {
  methods: Methods;
  /** Undefined for provisioning. */
  token: string | undefined;
  /** Of an RPC. */
  id: string;
}

/** Finds the route; `path` is what follows `/api/v1/`, as sent. Undefined: there is none. */
export function findRoute(path: string): Target | undefined {
  const [first = "", ...rest] = path.split("/").map(decoded);
  if (rest.length === 0) {
    return first === "provision" ? { methods: PROVISION, token: undefined, id: "" } : undefined;
  }
  const [what = "", id = ""] = rest;
  const isAnswer = rest.length === 2 && what === "rpc" && id !== "";
  const name = isAnswer ? "rpc/:id" : rest.join("/");
  const methods = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  return methods && { methods, token: first, id };
}

/** A broken escape stands for itself. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
