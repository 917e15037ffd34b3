import { decodePercent } from "../spring/convert.js";
import { attributeUpdates, publishAttributes, readAttributes } from "./attributes.js";
import { claim } from "./claim.js";
import type { Exchange } from "./exchange.js";
import { bindPackage, readPackage } from "./firmware.js";
import { bindPoll } from "./poll.js";
import { provision } from "./provision.js";
import { answerRpc, bindAnswer, callRpc, pollRpc } from "./rpc.js";
import { postTelemetry } from "./telemetry.js";

/** What one method of one path does. */
export interface Route {
  readonly run: (exchange: Exchange) => void;
  /** Reads the parameters; the message of a 400 if they are wrong. */
  readonly bind?: (exchange: Exchange) => string | undefined;
  readonly body?: "needed" | "optional";
  /** The method of the platform's own code, as who sends no body gets to read it. */
  readonly method?: string;
  /** Answers with JSON and nothing else: an Accept without it is a 406. */
  readonly producesJson?: boolean;
}

export type Methods = { readonly GET?: Route; readonly POST?: Route };

const STRING = "java.lang.String";
const REQUEST = "jakarta.servlet.http.HttpServletRequest";

/** A route whose body is needed. */
function posting(
  name: string,
  parameters: readonly string[],
  run: Route["run"],
  bind?: Route["bind"],
): Route {
  const method = `${name}(${parameters.join(",")})`;
  return { run, body: "needed", method, ...(bind && { bind }) };
}

/** By what follows the token in the path; `:id` stands for one segment. */
const ROUTES: Record<string, Methods> = {
  telemetry: { POST: posting("postTelemetry", [STRING, STRING, REQUEST], postTelemetry) },
  attributes: {
    GET: { run: readAttributes, producesJson: true },
    POST: posting("postDeviceAttributes", [STRING, STRING], publishAttributes),
  },
  "attributes/updates": { GET: { run: attributeUpdates, bind: bindPoll, producesJson: true } },
  rpc: {
    GET: { run: pollRpc, bind: bindPoll, producesJson: true },
    POST: posting("postRpcRequest", [STRING, STRING, REQUEST], callRpc),
  },
  "rpc/:id": {
    POST: posting("replyToCommand", [STRING, "java.lang.Integer", STRING, REQUEST], answerRpc, bindAnswer),
  },
  claim: { POST: { run: claim, body: "optional" } },
  firmware: { GET: { run: (exchange) => readPackage(exchange, "FIRMWARE"), bind: bindPackage } },
  software: { GET: { run: (exchange) => readPackage(exchange, "SOFTWARE"), bind: bindPackage } },
};

const PROVISION: Methods = { POST: posting("provisionDevice", [STRING], provision) };

export interface Target {
  methods: Methods;
  /** Undefined for provisioning. */
  token: string | undefined;
  /** Of an RPC. */
  id: string;
}

/** Finds the route; `path` is what follows `/api/v1/`, as sent. Undefined: there is none. */
export function findRoute(path: string): Target | undefined {
  const [first = "", ...rest] = path.split("/").map(decodePercent);
  if (rest.length === 0) {
    return first === "provision" ? { methods: PROVISION, token: undefined, id: "" } : undefined;
  }
  const [what = "", id = ""] = rest;
  const isAnswer = rest.length === 2 && what === "rpc" && id !== "";
  const name = isAnswer ? "rpc/:id" : rest.join("/");
  const methods = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  return methods && { methods, token: first, id };
}
