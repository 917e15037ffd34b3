import type { PlatformCore } from "./core/platform.js";
import { Exchange, type HandlingFaults, type ServerRules } from "./device/exchange.js";
import { type DeviceRequest, type DeviceResponse, response, splitUrl } from "./device/messages.js";
import { kept, RequestLog } from "./device/request-log.js";
import { findRoute, type Methods, type Target } from "./device/routes.js";
import { type Respond, runPlan } from "./faults/run.js";
import { Switchboard } from "./faults/switchboard.js";

/** How the platform treats devices. */
export interface DeviceRules {
  /** Answers client-side RPCs. Default false: a stock server's rule chain answers none. */
  readonly ruleChain?: boolean | undefined;
  /** Time until an open request ends with 503. Default 30,000 ms. */
  readonly asyncCapMs?: number | undefined;
}

export interface DeviceApiOptions extends DeviceRules {
  core: PlatformCore;
  /** Called with a fault of the local platform's own: the device gets an empty 500. */
  onError?: (error: unknown) => void;
}

const BASE = "/api/v1/";
/** A server in one process. */
const CAP_MS = 30_000;
const RPC_PATH = /^\/api\/v1\/[^/]*\/rpc(?:$|\/)/;
/** Of the device API, and of the whole server behind it. */
const LARGEST = { rpc: 65_536, other: 52_428_800, any: 16_777_216 };

/** The device API: a request in, one answer out, now or later. Speaks no HTTP itself. */
export class DeviceApi {
  readonly log = new RequestLog();
  readonly faults: Switchboard;
  readonly #rules: ServerRules;

  constructor({ core, ruleChain, onError, asyncCapMs = CAP_MS }: DeviceApiOptions) {
    this.faults = new Switchboard(core.clock);
    this.#rules = {
      ...{ core, asyncCapMs, hasRuleChain: ruleChain === true },
      onError: onError ?? (() => {}),
    };
  }

  /** Whether it is for the device API at all. */
  serves(url: string): boolean {
    return url.startsWith(BASE);
  }

  /** Refuses a body by its stated length, before it has come. */
  refuse(request: Omit<DeviceRequest, "body">): DeviceResponse | undefined {
    const [path] = splitUrl(request.url);
    const limit = tooLarge(path, Number(request.headers["content-length"] ?? 0));
    if (limit === undefined) return undefined;
    const text = JSON.stringify(`Payload size exceeds the limit of ${limit} bytes`);
    return response(413, text);
  }

  /** Calls `respond` at most once. Call the result when the device hangs up. */
  handle(request: DeviceRequest, respond: (response: DeviceResponse) => void): () => void {
    const [path] = splitUrl(request.url);
    const target = findRoute(path.slice(BASE.length));
    const device = target?.token === undefined ? undefined : this.#rules.core.devices.byToken(target.token);
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
    const serve = (respond: Respond): (() => void) => this.#serve(request, target, respond, plan);
    const abandon = plan
      ? runPlan(plan, this.#rules.core.clock, serve, answered, () => end(0))
      : serve(answered);
    return () => {
      if (!open) return;
      end(0);
      abandon();
    };
  }

  #serve(
    request: DeviceRequest,
    target: Target | undefined,
    respond: Respond,
    faults: HandlingFaults | undefined,
  ): () => void {
    const exchange = new Exchange(this.#rules, request, respond, faults);
    const refused = this.refuse(request);
    if (refused) respond(refused);
    else if (target) this.#run(exchange, target);
    else exchange.answerError(404, `No static resource ${splitUrl(request.url)[0].slice(1)}.`);
    return () => exchange.abandon();
  }

  /** Checks in the server's order: method, parameters, body, token. */
  #run(exchange: Exchange, { methods, token, id }: Target): void {
    const { method } = exchange.request;
    // HEAD is served like GET: it takes an RPC with it, too.
    const route = methods[method === "HEAD" ? "GET" : (method as keyof Methods)];
    if (!route) {
      const Allow = Object.keys(methods).join(", ");
      exchange.answerError(405, `Request method '${method}' is not supported`, { Allow });
      return;
    }
    exchange.id = id;
    const { bind, needsBody = false } = route;
    const isBodyless = needsBody && exchange.text === "";
    const wrong = bind?.(exchange) ?? (isBodyless ? "Required request body is missing" : undefined);
    const device = token === undefined ? undefined : this.#rules.core.devices.byToken(token);
    if (wrong !== undefined) exchange.answerError(400, wrong);
    else if (token !== undefined && !device) exchange.answer(401);
    else {
      if (device) {
        exchange.device = device;
        device.lastActivityTime = exchange.core.clock.now();
      }
      exchange.guard(() => route.run(exchange));
    }
  }

  /** Writes the request down, once, with the status it ended with. */
  #note(
    { method, url, body }: DeviceRequest,
    target: Target | undefined,
    deviceName: string | undefined,
  ): (status: number, faults?: readonly string[]) => void {
    const ts = this.#rules.core.clock.now();
    let noted = false;
    return (status, faults) => {
      if (noted) return;
      noted = true;
      const durationMs = this.#rules.core.clock.now() - ts;
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
