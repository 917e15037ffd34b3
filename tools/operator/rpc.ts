import { isAnything, isRpc, isRpcId, pageOf } from "./checks.js";
import { Calls } from "./rest.js";
import type { Page, PageQuery, PersistentRpc } from "./shapes.js";

const part = encodeURIComponent;

export interface RpcOptions {
  /** Time that the device has to answer, in ms; at least 5,000. Default 10,000. */
  timeoutMs?: number;
}

export interface PersistentOptions {
  /** Until when it may be delivered, in milliseconds since 1970. */
  expirationTime?: number;
  /** Whether an answer is awaited. Default true. */
  twoWay?: boolean;
}

/** Server-side RPC. */
export class Rpc extends Calls {
  /** Returns when the platform handed it to a poll, or dropped it: it does not say which. */
  async oneWay(deviceId: string, method: string, params?: unknown, options: RpcOptions = {}): Promise<void> {
    await this.#send("oneway", deviceId, method, params, options);
  }

  /** The device's answer. Throws OperatorError 504 if none came in time. */
  async twoWay(
    deviceId: string,
    method: string,
    params?: unknown,
    options: RpcOptions = {},
  ): Promise<unknown> {
    return this.#send("twoway", deviceId, method, params, options);
  }

  /** Has it kept by the platform until it can be delivered. Returns the id for `get`. */
  async persistent(
    deviceId: string,
    method: string,
    params?: unknown,
    options: PersistentOptions = {},
  ): Promise<string> {
    const { expirationTime, twoWay = true } = options;
    const body = { method, params: params ?? null, persistent: true, expirationTime };
    const path = `/api/rpc/${twoWay ? "twoway" : "oneway"}/${part(deviceId)}`;
    return (await this.rest.call("POST", path, isRpcId, { body })).rpcId;
  }

  async get(rpcId: string): Promise<PersistentRpc> {
    return this.rest.call("GET", `/api/rpc/persistent/${part(rpcId)}`, isRpc);
  }

  /** The device's persistent RPCs, those of one status if it is named. */
  async list(
    deviceId: string,
    { pageSize = 100, page = 0, rpcStatus }: PageQuery & { rpcStatus?: PersistentRpc["status"] } = {},
  ): Promise<Page<PersistentRpc>> {
    const path = `/api/rpc/persistent/device/${part(deviceId)}`;
    const query = { pageSize, page, rpcStatus };
    return this.rest.call("GET", path, pageOf(isRpc), { query });
  }

  /** Takes it back, if it was not delivered yet, and forgets it. */
  async delete(rpcId: string): Promise<void> {
    await this.rest.call("DELETE", `/api/rpc/persistent/${part(rpcId)}`, isAnything);
  }

  async #send(
    way: string,
    deviceId: string,
    method: string,
    params: unknown,
    options: RpcOptions,
  ): Promise<unknown> {
    const { timeoutMs = 10_000 } = options;
    const body = { method, params: params ?? null, timeout: timeoutMs };
    // The platform's own time-out is the answer to wait for.
    const call = { body, timeoutMs: Math.max(timeoutMs, 5_000) + 5_000 };
    return this.rest.call("POST", `/api/rpc/${way}/${part(deviceId)}`, isAnything, call);
  }
}
