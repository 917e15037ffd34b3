import type { PlatformCore } from "./core/platform.js";
import { type RateLimitSpecs, RateLimits } from "./core/rate-limits.js";
import { allowed, pick, refuses } from "./device/checks.js";
import { Exchange } from "./device/exchange.js";
import { type DeviceRequest, type DeviceResponse, response } from "./device/messages.js";
import { gatewayTimeout, PROXIED_CAP_MS, PROXY_CUT_MS } from "./device/proxy.js";
import { kept, RequestLog } from "./device/request-log.js";
import { findRoute, type Target } from "./device/routes.js";
import { isUnstored, runPlan, skewOf } from "./faults/run.js";
import { Switchboard } from "./faults/switchboard.js";

export interface DeviceApiOptions {
  core: PlatformCore;
  /**
   * Whether client-side RPCs are answered. Default false: a stock server's rule chain answers none.
   */
  ruleChain?: boolean;
  /**
   * When an open request ends with 503, in milliseconds. Default 30,000; 300,000 behind a proxy.
   */
  asyncCapMs?: number;
  /**
   * When an open request ends with 408 if it doesn't say itself, in milliseconds. Default 60,000.
   */
  requestTimeoutMs?: number;
  /** What devices may send. Default: anything. */
  rateLimits?: RateLimitSpecs;
  /**
   * A proxy stands in front: it answers 504 after 50 s, and the server's own limit is then 300 s
   * unless given. Default false.
   */
  behindProxy?: boolean;
  /** Called with a fault of the local platform's own: the device gets an empty 500. */
  onError?: (error: unknown) => void;
}

const BASE = "/api/v1/";
/** When a single server ends an open request with 503. */
const CAP_MS = 30_000;
const RPC_PATH = /^\/api\/v1\/[^/]*\/rpc(?:$|\/)/;
/** Of the device API, and of the whole server behind it. */
const LARGEST = { rpc: 65_536, other: 52_428_800, any: 16_777_216 };

/** The device API: a request in, one answer out, now or later. Speaks no HTTP itself. */
export class DeviceApi {
  readonly log = new RequestLog();
  readonly faults: Switchboard;
  readonly #core: PlatformCore;
  readonly #asyncCapMs: number;
  readonly #limits: RateLimits;
  readonly #proxyCutMs: number | undefined;
  readonly #requestTimeoutMs: number;
  readonly #hasRuleChain: boolean;
  readonly #onError: (error: unknown) => void;

  constructor({
    core,
    ruleChain = false,
    asyncCapMs,
    requestTimeoutMs = 60_000,
    rateLimits = {},
    behindProxy = false,
    onError = () => {},
  }: DeviceApiOptions) {
    this.#core = core;
    this.faults = new Switchboard(core.clock);
    this.#asyncCapMs = asyncCapMs ?? (behindProxy ? PROXIED_CAP_MS : CAP_MS);
    this.#limits = new RateLimits(rateLimits, core.clock);
    this.#proxyCutMs = behindProxy ? PROXY_CUT_MS : undefined;
    this.#requestTimeoutMs = requestTimeoutMs;
    this.#hasRuleChain = ruleChain;
    this.#onError = onError;
  }

  /** Whether it is for the device API at all. */
  serves(url: string): boolean {
    return url.startsWith(BASE);
  }

  /** Refuses a body by its stated length, before it has come. */
  refuse(request: Omit<DeviceRequest, "body">): DeviceResponse | undefined {
    const [path] = split(request.url);
    const limit = tooLarge(path, Number(request.headers["content-length"] ?? 0));
    if (limit === undefined) return undefined;
    const text = JSON.stringify(`Payload size exceeds the limit of ${limit} bytes`);
    return response(413, text);
  }

  /**
   * Calls `respond` once, unless the device hangs up first, which calling the result says, or a
   * fault takes the answer.
   */
  handle(request: DeviceRequest, respond: (response: DeviceResponse) => void): () => void {
    const [path] = split(request.url);
    const target = findRoute(path.slice(BASE.length));
    const device = target?.token === undefined ? undefined : this.#core.devices.byToken(target.token);
    const note = this.#note(request, target, device?.name);
    const occasion = { method: request.method, path: afterToken(path), device: device?.name };
    const plan = this.faults.plan(occasion);
    let open = true;
    const end = (status: number): void => {
      open = false;
      note(status, plan?.names);
    };
    const answered = (answer: DeviceResponse): void => {
      end(answer.status);
      respond(answer);
    };
    const abandon = plan
      ? runPlan(
          plan,
          this.#core.clock,
          (answered) =>
            this.#serve(request, target, { skewMs: skewOf(plan), isUnstored: isUnstored(plan) }, answered),
          answered,
          () => end(0),
        )
      : this.#serve(request, target, {}, answered);
    return () => {
      if (!open) return;
      end(0);
      abandon();
    };
  }

  #serve(
    request: DeviceRequest,
    target: Target | undefined,
    { skewMs = 0, isUnstored = false }: { skewMs?: number; isUnstored?: boolean },
    answered: (answer: DeviceResponse) => void,
  ): () => void {
    const [path, query] = split(request.url);
    let stopProxy = (): void => {};
    const respond = (answer: DeviceResponse): void => {
      stopProxy();
      answered(answer);
    };
    const exchange = new Exchange({
      core: this.#core,
      asyncCapMs: this.#asyncCapMs,
      limits: this.#limits,
      requestTimeoutMs: this.#requestTimeoutMs,
      hasRuleChain: this.#hasRuleChain,
      request,
      query: new URLSearchParams(query),
      skewMs,
      isUnstored,
      onError: this.#onError,
      respond,
    });
    stopProxy = this.#startProxy(exchange, respond);
    const refused = this.refuse(request);
    if (refused) respond(refused);
    else if (target) this.#run(exchange, target);
    else exchange.answerError(404, `No static resource ${path.slice(1)}.`);
    return () => {
      stopProxy();
      exchange.abandon();
    };
  }

  /** The proxy ends the request and answers itself. The result cancels that. */
  #startProxy(exchange: Exchange, respond: (answer: DeviceResponse) => void): () => void {
    if (this.#proxyCutMs === undefined) return () => {};
    return this.#core.clock.timer(this.#proxyCutMs, () => {
      if (!exchange.isOpen) return;
      exchange.abandon();
      respond(gatewayTimeout());
    });
  }

  /**
   * Runs the checks in the real server's order: method, parameters, body, and only then the token.
   */
  #run(exchange: Exchange, { methods, token, id }: Target): void {
    const { method } = exchange.request;
    const route = pick(methods, method);
    if (!route) {
      exchange.answerError(405, `Request method '${method}' is not supported`, { Allow: allowed(methods) });
      return;
    }
    exchange.id = id;
    if (refuses(exchange, route)) return;
    if (token !== undefined) {
      const device = this.#core.devices.byToken(token);
      if (!device) {
        exchange.answer(401);
        return;
      }
      exchange.device = device;
      device.lastActivityTime = this.#core.clock.now();
    }
    exchange.guard(() => route.run(exchange));
  }

  /** Writes the request down, once, with the status it ended with. */
  #note(
    { method, url, body }: DeviceRequest,
    target: Target | undefined,
    deviceName: string | undefined,
  ): (status: number, faults?: readonly string[]) => void {
    const ts = this.#core.clock.now();
    let noted = false;
    return (status, faults) => {
      if (noted) return;
      noted = true;
      const durationMs = this.#core.clock.now() - ts;
      const entry = { ts, method, device: deviceName ?? null, status, durationMs };
      this.log.add({ entry, url, body: kept(body), token: target?.token, faults });
    };
  }
}

/** The limit that a body of this length breaks. */
function tooLarge(path: string, length: number): number | undefined {
  const limits = [RPC_PATH.test(path) ? LARGEST.rpc : LARGEST.other, LARGEST.any];
  return limits.find((limit) => length > limit);
}

/** `/api/v1/TOKEN/rpc/0` -> `rpc/0`; `/api/v1/provision` -> `provision`. */
function afterToken(path: string): string {
  const rest = path.slice(BASE.length);
  return rest.slice(rest.indexOf("/") + 1);
}

function split(url: string): [string, string] {
  const at = url.indexOf("?");
  return at < 0 ? [url, ""] : [url.slice(0, at), url.slice(at + 1)];
}
