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
  readonly needsBody?: boolean;
  /** Answers with JSON and nothing else: an Accept without it is a 406. */
  readonly producesJson?: boolean;
}

export type Methods = { readonly GET?: Route; readonly POST?: Route };

/** By what follows the token in the path; `:id` stands for one segment. */
const ROUTES: Record<string, Methods> = {
  telemetry: { POST: { run: postTelemetry, needsBody: true } },
  attributes: {
    GET: { run: readAttributes, producesJson: true },
    POST: { run: publishAttributes, needsBody: true },
  },
  "attributes/updates": { GET: { run: attributeUpdates, bind: bindPoll, producesJson: true } },
  rpc: {
    GET: { run: pollRpc, bind: bindPoll, producesJson: true },
    POST: { run: callRpc, needsBody: true },
  },
  "rpc/:id": { POST: { run: answerRpc, bind: bindAnswer, needsBody: true } },
  claim: { POST: { run: claim } },
  firmware: { GET: { run: (exchange) => readPackage(exchange, "FIRMWARE"), bind: bindPackage } },
  software: { GET: { run: (exchange) => readPackage(exchange, "SOFTWARE"), bind: bindPackage } },
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
  const [first = "", ...rest] = path.split("/").map(decodeSegment);
  if (rest.length === 0) {
    return first === "provision" ? { methods: PROVISION, token: undefined, id: "" } : undefined;
  }
  const [what = "", id = ""] = rest;
  const isAnswer = rest.length === 2 && what === "rpc" && id !== "";
  const name = isAnswer ? "rpc/:id" : rest.join("/");
  const methods = Object.hasOwn(ROUTES, name) ? ROUTES[name] : undefined;
  return methods && { methods, token: first, id };
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const FORBIDDEN_IN_PATH = /\/\/|\/\.{1,2}(?:\/|$)|%2[fF]|%25|%5[cC]|%00|%2[eE]|;|\\|%3[bB]/;
const ESCAPE = /%(?![0-9a-fA-F]{2})/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const FORBIDDEN_RAW = /[{}[\]|"<>^`\x00-\x20\x7f-\uffff]/;

/** Whether the server refuses the address itself: `page` if it's the web server under the platform, which answers in HTML. */
export function refusesUrl(path: string, query: string): "page" | "platform" | undefined {
  if (FORBIDDEN_RAW.test(path) || FORBIDDEN_RAW.test(query) || ESCAPE.test(path)) return "page";
  return FORBIDDEN_IN_PATH.test(path) ? "platform" : undefined;
}
