import type { Clock } from "../common/clock.js";
import type { Ids } from "../common/ids.js";
import type { Device } from "../devices.js";
import { type Journal, NO_JOURNAL } from "../journal.js";
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

/** `requestId` is the process's own: a device's count begins at 0 again after a restart. */
export type PersistentRpcRecord = Omit<PersistentRpc, "requestId">;

const MOST = 10_000;

/** Persistent RPCs and what became of them. The oldest make room. */
export class RpcRecords {
  readonly #byId = new Map<string, PersistentRpc>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #journal: Journal;

  constructor(clock: Clock, ids: Ids, journal: Journal = NO_JOURNAL) {
    this.#clock = clock;
    this.#ids = ids;
    this.#journal = journal;
  }

  /** One that was kept: what was never handed out waits again, under a new id. */
  restore(record: PersistentRpcRecord, device: Device): void {
    const rpc: PersistentRpc = { ...record, requestId: undefined };
    this.#byId.set(rpc.id, rpc);
    if (rpc.status !== "QUEUED") return;
    const { method, params, oneWay, expirationTime: expiresAt } = rpc;
    rpc.requestId = device.rpc.send({ method, params, oneWay, expiresAt, record: this.#record(rpc) });
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
    rpc.requestId = device.rpc.send({ ...request, record: this.#record(rpc) });
    if (rpc.requestId === undefined) return undefined;
    this.#byId.set(rpc.id, rpc);
    this.#save(rpc);
    for (const oldest of this.#byId.keys()) {
      if (this.#byId.size <= MOST) break;
      this.#drop(oldest);
    }
    return rpc;
  }

  delete(rpc: PersistentRpc, device: Device | undefined): void {
    rpc.status = "DELETED";
    if (rpc.requestId !== undefined) device?.rpc.revoke(rpc.requestId);
    this.#drop(rpc.id);
  }

  /** The device is gone. */
  forget(device: Device): void {
    for (const rpc of this.list(device.id)) this.#drop(rpc.id);
  }

  #record(rpc: PersistentRpc): RpcRecord {
    return {
      setStatus: (status, response) => {
        rpc.status = status;
        rpc.response = response;
        // It may come before the answer to who sent it, or after somebody deleted it.
        if (this.#byId.get(rpc.id) === rpc) this.#save(rpc);
      },
    };
  }

  #save(rpc: PersistentRpc): void {
    const { requestId: _, ...record } = rpc;
    this.#journal.put(["rpc", rpc.id, "record"], record);
  }

  #drop(id: string): void {
    this.#byId.delete(id);
    this.#journal.put(["rpc", id], undefined);
  }
}
