import type { Clock } from "../common/clock.js";
import type { Ids } from "../common/ids.js";
import type { Device } from "../devices.js";
import type { Feed, Happening } from "../feed.js";
import type { PersistentStatus, RpcRecord, RpcRequest } from "./rpc.js";

export interface PersistentRpc {
  readonly id: string;
  readonly createdTime: number;
  readonly deviceId: string;
  readonly method: string;
  /** JSON text. */
  readonly params: string;
  readonly oneWay: boolean;
  readonly expirationTime: number;
  /** In the device's own count; undefined once it can't be delivered any more. */
  requestId: number | undefined;
  status: PersistentStatus;
  /** What the device sent. */
  response: string | undefined;
}

const MOST = 10_000;

/** Persistent RPCs and what became of them. The oldest make room. */
export class RpcRecords {
  readonly #byId = new Map<string, PersistentRpc>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #feed: Feed<Happening>;

  constructor(clock: Clock, ids: Ids, feed: Feed<Happening>) {
    this.#clock = clock;
    this.#ids = ids;
    this.#feed = feed;
  }

  get(id: string): PersistentRpc | undefined {
    return this.#byId.get(id);
  }

  /** The newest first. */
  list(deviceId: string): PersistentRpc[] {
    return [...this.#byId.values()].filter((rpc) => rpc.deviceId === deviceId).reverse();
  }

  /** Undefined if too many wait for the device. */
  send(device: Device, request: Omit<RpcRequest, "record" | "result">): PersistentRpc | undefined {
    const { method, params, oneWay, expiresAt } = request;
    const rpc: PersistentRpc = {
      id: this.#ids.uuid(),
      createdTime: this.#clock.now(),
      deviceId: device.id,
      method,
      params,
      oneWay,
      expirationTime: expiresAt,
      requestId: undefined,
      status: "QUEUED",
      response: undefined,
    };
    const record: RpcRecord = {
      setStatus: (status, response) => {
        rpc.status = status;
        rpc.response = response;
        this.#feed.tell({ kind: "rpc", deviceId: device.id, rpcId: rpc.id, status });
      },
    };
    rpc.requestId = device.rpc.send({ ...request, record });
    if (rpc.requestId === undefined) return undefined;
    this.#byId.set(rpc.id, rpc);
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= MOST) break;
      this.#byId.delete(oldest);
    }
    return rpc;
  }

  delete(rpc: PersistentRpc, device: Device | undefined): void {
    rpc.status = "DELETED";
    if (rpc.requestId !== undefined) device?.rpc.revoke(rpc.requestId);
    this.#byId.delete(rpc.id);
  }

  /** The device is gone. */
  forget(device: Device): void {
    for (const rpc of this.list(device.id)) this.#byId.delete(rpc.id);
  }
}
