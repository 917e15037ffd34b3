import { AttributeStore } from "./attributes.js";
import type { Clock } from "./common/clock.js";
import type { Ids } from "./common/ids.js";
import { Refused } from "./common/refused.js";
import { type Journal, NO_JOURNAL } from "./journal.js";
import { Notifications } from "./notifications.js";
import { RpcActor } from "./rpc/rpc.js";
import { TimeSeries } from "./timeseries/timeseries.js";
import { isMarkup } from "./values.js";

export interface Credentials {
  readonly id: string;
  /** The access token. */
  credentialsId: string;
  version: number;
}

export interface DeviceFields {
  name: string;
  profileId: string;
  label?: string | undefined;
  firmwareId?: string | undefined;
  additionalInfo?: unknown;
}

/** A request of the device that is still open. */
export interface OpenRequest {
  deviceDeleted(): void;
  /** Its session ends before its time: there are too many. */
  evict(): void;
}

export interface Device extends DeviceFields {
  readonly id: string;
  readonly createdTime: number;
  version: number;
  customerId: string | undefined;
  /** When its last request came, in milliseconds since 1970. */
  lastActivityTime: number | undefined;
  readonly credentials: Credentials;
  readonly attributes: AttributeStore;
  readonly series: TimeSeries;
  readonly rpc: RpcActor;
  readonly notifications: Notifications;
  readonly open: Set<OpenRequest>;
}

/** All of a device that is not of this process alone, its attributes and points apart. */
export type DeviceRecord = Omit<Device, "attributes" | "series" | "rpc" | "notifications" | "open">;

const MOST = 10_000;
const LONGEST = 255;

/** Devices by id, name and access token. Names are unique in the tenant, tokens everywhere. */
export class Devices {
  readonly #byId = new Map<string, Device>();
  readonly #byName = new Map<string, Device>();
  readonly #byToken = new Map<string, Device>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #journal: Journal;

  constructor(clock: Clock, ids: Ids, journal: Journal = NO_JOURNAL) {
    this.#journal = journal;
    this.#clock = clock;
    this.#ids = ids;
  }

  get(id: string): Device | undefined {
    return this.#byId.get(id);
  }

  byName(name: string): Device | undefined {
    return this.#byName.get(name);
  }

  byToken(token: string): Device | undefined {
    return this.#byToken.get(token);
  }

  /** The newest first. */
  list(): Device[] {
    return [...this.#byId.values()].reverse();
  }

  /** Without a token of its own it gets a random one. Throws Refused. */
  create(fields: DeviceFields, token = this.#ids.token(20)): Device {
    if (this.#byId.size >= MOST) throw new Refused("Devices limit reached!");
    this.#checkName(fields.name, undefined);
    this.#checkToken(token, undefined);
    const device = this.#add({
      ...fields,
      id: this.#ids.uuid(),
      createdTime: this.#clock.now(),
      version: 1,
      customerId: undefined,
      lastActivityTime: undefined,
      credentials: {
        id: this.#ids.uuid(),
        credentialsId: token,
        version: 1,
      },
    });
    this.save(device);
    return device;
  }

  /** One that was kept. */
  restore(record: DeviceRecord): Device {
    return this.#add(record);
  }

  /** Something of it has changed. */
  save(device: Device): void {
    const { attributes: _, series: _1, rpc: _2, notifications: _3, open: _4, ...record } = device;
    this.#journal.put(["device", device.id, "record"], record);
  }

  /** Throws Refused. */
  update(device: Device, fields: DeviceFields): void {
    this.#checkName(fields.name, device);
    this.#byName.delete(device.name);
    Object.assign(device, fields);
    device.version++;
    this.#byName.set(device.name, device);
    this.save(device);
  }

  /** Polls that are open get nothing more, and end by their time. Throws Refused. */
  setToken(device: Device, credentialsId: string): void {
    this.#checkToken(credentialsId, device);
    const { credentials } = device;
    this.#byToken.delete(credentials.credentialsId);
    credentials.credentialsId = credentialsId;
    credentials.version++;
    this.#byToken.set(credentialsId, device);
    device.rpc.forgetSubscribers();
    device.notifications.forgetSubscribers();
    this.save(device);
  }

  delete(device: Device): void {
    this.#byId.delete(device.id);
    this.#byName.delete(device.name);
    this.#byToken.delete(device.credentials.credentialsId);
    device.rpc.close();
    device.notifications.forgetSubscribers();
    this.#journal.put(["device", device.id], undefined);
    for (const request of [...device.open]) request.deviceDeleted();
  }

  #add(record: DeviceRecord): Device {
    const { id, name, credentials } = record;
    const device: Device = {
      ...record,
      attributes: new AttributeStore(id, this.#journal),
      series: new TimeSeries(id, this.#journal),
      rpc: new RpcActor(this.#clock),
      notifications: new Notifications(),
      open: new Set(),
    };
    this.#byId.set(id, device);
    this.#byName.set(name, device);
    this.#byToken.set(credentials.credentialsId, device);
    return device;
  }

  #checkName(name: string, device: Device | undefined): void {
    if (name.trim() === "") throw new Refused("Device name should be specified!");
    if (name.length > LONGEST)
      throw new Refused(`Validation error: name length must be equal or less than ${LONGEST}`);
    if (isMarkup(name)) throw new Refused("Validation error: name is malformed");
    const named = this.#byName.get(name);
    if (named && named !== device) throw new Refused("Device with such name already exists!");
  }

  #checkToken(token: string, device: Device | undefined): void {
    if (token === "") throw new Refused("Device credentials id should be specified!");
    const owner = this.#byToken.get(token);
    if (owner && owner !== device)
      throw new Refused("Device credentials are already assigned to another device!");
  }
}
