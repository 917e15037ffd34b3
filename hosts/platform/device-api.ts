import type { PlatformCore } from "./core/platform.js";
import { type RateLimitSpecs, RateLimits } from "./core/rate-limits.js";
import { Exchange } from "./device/exchange.js";
import { type DeviceRequest, type DeviceResponse, errorJson, HTML_400, response } from "./device/messages.js";
import { MODES, type Mode, type ModeRules } from "./device/modes.js";
import { gatewayTimeout, PROXIED_CAP_MS, PROXY_CUT_MS } from "./device/proxy.js";
import { parseQuery } from "./device/query.js";
import { excerpt, hidePath, RequestLog } from "./device/request-log.js";
import { findRoute, type Methods, type Route, refusesUrl, type Target } from "./device/routes.js";

export interface DeviceApiOptions {
  core: PlatformCore;
  /** Default `documented`. */
  as?: Mode;
  /** When an open request ends with 503, in milliseconds. Default: 30,000 as deployed, never as documented. */
  asyncCapMs?: number;
  /** When an open request ends with 408 if it doesn't say itself, in milliseconds. Default 60,000. */
  requestTimeoutMs?: number;
  /** What devices may send. Default: anything. */
  rateLimits?: RateLimitSpecs;
  /** A proxy stands in front: it answers 504 after 50 s, and the server's own limit is then 300 s unless given. Default false. */
  behindProxy?: boolean;
  /** Told of a fault of the stand-in's own: the device gets an empty 500. */
  onError?: (error: unknown) => void;
}

const BASE = "/api/v1/";
const RPC_PATH = /^\/api\/v1\/[^/?]*\/rpc(?:$|[/?])/;
const MEDIA_TYPE = /^[\w!#$%&'*+.^`|~-]+\/[\w!#$%&'*+.^`|~-]+\s*(?:;|$)/;
const JSON_RANGE =
  /(?:^|,)\s*(?:\*\/\*|application\/\*|application\/json|application\/[\w.]+\+json)\s*(?:;|,|$)/;
const LARGEST = { rpc: 65_536, other: 16_777_216 };

/** The device API: a request in, one answer out, now or later. Speaks no HTTP itself. */
export class DeviceApi {
  readonly log = new RequestLog();
  readonly #core: PlatformCore;
  readonly #rules: ModeRules;
  readonly #limits: RateLimits;
  readonly #proxyCutMs: number | undefined;
  readonly #requestTimeoutMs: number;
  readonly #onError: (error: unknown) => void;

  constructor({
    core,
    as = "documented",
    asyncCapMs,
    requestTimeoutMs = 60_000,
    rateLimits = {},
    behindProxy = false,
    onError = () => {},
  }: DeviceApiOptions) {
    this.#core = core;
    const standardCapMs = behindProxy && MODES[as].asyncCapMs ? PROXIED_CAP_MS : MODES[as].asyncCapMs;
    this.#rules = { ...MODES[as], asyncCapMs: asyncCapMs ?? standardCapMs };
    this.#limits = new RateLimits(rateLimits, core.clock);
    this.#proxyCutMs = behindProxy ? PROXY_CUT_MS : undefined;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#onError = onError;
  }

  /** Whether it is for the device API at all. */
  serves(url: string): boolean {
    return url.startsWith(BASE);
  }

  /** What is refused before the body is looked at: an address the server won't have, a body too large. */
  refuse({ url, headers }: Omit<DeviceRequest, "body">): DeviceResponse | undefined {
    const [path, query] = split(url);
    const refused = refusesUrl(path, query);
    if (refused === "page") return response(400, HTML_400, "text/html;charset=utf-8");
    if (refused) {
      const message = "The request was rejected because the URL contained a potentially malicious String";
      return response(400, errorJson(400, message, this.#core.clock.now()), "application/json");
    }
    const limit = RPC_PATH.test(url) ? LARGEST.rpc : LARGEST.other;
    const isTooLarge = Number(headers["content-length"] ?? 0) > limit;
    return isTooLarge
      ? response(413, JSON.stringify(`Payload size exceeds the limit of ${limit} bytes`))
      : undefined;
  }

  /** Calls `respond` once, unless the device hangs up first, which is told by calling the result. */
  handle(request: DeviceRequest, respond: (response: DeviceResponse) => void): () => void {
    const [path, query] = split(request.url);
    const target = findRoute(path.slice(BASE.length));
    const device = target?.token === undefined ? undefined : this.#core.devices.byToken(target.token);
    const note = this.#note(request, target, () => device?.name);
    const refused = this.refuse(request);
    const options = {
      core: this.#core,
      rules: this.#rules,
      limits: this.#limits,
      requestTimeoutMs: this.#requestTimeoutMs,
      request,
      query: parseQuery(query),
      onError: this.#onError,
      respond: (answer: DeviceResponse) => {
        stopProxy();
        note(answer.status);
        respond(answer);
      },
    };
    const exchange = new Exchange(options);
    const stopProxy = this.#startProxy(exchange, options.respond);
    if (refused) options.respond(refused);
    else if (target) this.#run(exchange, target);
    else exchange.answerError(404, `No static resource ${path.slice(1)}.`);
    return () => {
      if (!exchange.isOpen || refused) return;
      stopProxy();
      note(0);
      exchange.abandon();
    };
  }

  /** The proxy hangs up on the platform as a device would, and answers in its place. The result calls it off. */
  #startProxy(exchange: Exchange, respond: (answer: DeviceResponse) => void): () => void {
    if (this.#proxyCutMs === undefined) return () => {};
    return this.#core.clock.timer(this.#proxyCutMs, () => {
      if (!exchange.isOpen) return;
      exchange.abandon();
      respond(gatewayTimeout());
    });
  }

  /** The checks in the real server's order: method, Accept, content type, parameters and body, and only then the token. */
  #run(exchange: Exchange, { methods, token, id }: Target): void {
    const { method } = exchange.request;
    const route = pick(methods, method);
    if (!route) {
      const Allow = allowed(methods);
      if (method === "OPTIONS") exchange.answer(200, "", undefined, { Allow });
      else exchange.answerError(405, `Request method '${method}' is not supported`, { Allow });
      return;
    }
    exchange.id = id;
    const problem = this.#problem(exchange, route);
    if (problem) {
      exchange.answerError(...problem);
      return;
    }
    if (token !== undefined) {
      const device = this.#core.devices.byToken(token);
      if (!device) {
        exchange.answer(401);
        return;
      }
      exchange.device = device;
    }
    exchange.guard(() => route.run(exchange));
  }

  #problem(exchange: Exchange, route: Route): [status: number, message: string] | undefined {
    const { headers, body } = exchange.request;
    const { accept } = headers;
    if (route.producesJson && accept && !JSON_RANGE.test(accept))
      return [406, "No acceptable representation"];
    const type = headers["content-type"];
    if (route.needsBody && type && !MEDIA_TYPE.test(type))
      return [415, `Content-Type '${type.slice(0, 100)}' is not supported`];
    const wrong = route.bind?.(exchange);
    if (wrong !== undefined) return [400, wrong];
    if (route.needsBody && body.length === 0)
      return [400, "Required request body is missing: java.lang.String"];
    return undefined;
  }

  /** Writes the request down, once, with the status it ended with. */
  #note(
    { method, url, body }: DeviceRequest,
    target: Target | undefined,
    deviceName: () => string | undefined,
  ): (status: number) => void {
    const ts = this.#core.clock.now();
    let noted = false;
    return (status) => {
      if (noted) return;
      noted = true;
      const durationMs = this.#core.clock.now() - ts;
      const shown = excerpt(url, body, target?.token);
      const device = deviceName() ?? null;
      this.log.add({ ts, method, path: hidePath(url), device, status, durationMs, body: shown });
    };
  }
}

function split(url: string): [string, string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}

/** HEAD is served like GET: it takes an RPC with it, too. */
function pick(methods: Methods, method: string): Route | undefined {
  if (method === "GET" || method === "HEAD") return methods.GET;
  return method === "POST" ? methods.POST : undefined;
}

function allowed({ GET, POST }: Methods): string {
  return [GET && "GET,HEAD", POST && "POST"].filter((name) => name !== undefined).join(",");
}
