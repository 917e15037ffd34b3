import type { Scope } from "./attributes.js";
import { Claiming } from "./claiming.js";
import type { Clock } from "./common/clock.js";
import { type Ids, randomIds } from "./common/ids.js";
import { Refused } from "./common/refused.js";
import { type Device, type DeviceFields, Devices } from "./devices.js";
import { type Journal, NO_JOURNAL } from "./journal.js";
import { OtaQueue } from "./ota/ota.js";
import { hasData, type OtaPackage, Packages } from "./ota/packages.js";
import { type Profile, type ProfileFields, Profiles } from "./profiles.js";
import { type ProvisionRequest, type ProvisionResult, provision } from "./provisioning.js";
import { RpcRecords } from "./rpc/rpc-records.js";
import { isStorableKey, type Value } from "./values.js";

export interface PlatformOptions {
  clock: Clock;
  ids?: Ids;
  /** Default: state in memory only. */
  journal?: Journal;
  /** Stored profiles; `restore` brings the rest. */
  profiles?: readonly Profile[];
}

export type Values = readonly (readonly [string, Value])[];

/** Latest time stamp: beyond it the platform cannot compute the end of a month. */
const LAST_MONTH_MS = 9_223_372_035_446_400_000;

/** The platform itself: no network, no time of its own, everything in memory and bounded. */
export class PlatformCore {
  readonly clock: Clock;
  readonly profiles: Profiles;
  readonly devices: Devices;
  readonly packages: Packages;
  readonly #ids: Ids;
  readonly claiming: Claiming;
  readonly rpcRecords: RpcRecords;
  readonly #ota: OtaQueue;

  constructor(options: PlatformOptions) {
    const { clock, ids = randomIds, journal = NO_JOURNAL } = options;
    this.clock = clock;
    this.profiles = new Profiles(clock, ids, journal, options.profiles);
    this.devices = new Devices(clock, ids, journal);
    this.packages = new Packages(clock, ids, journal);
    this.#ids = ids;
    this.claiming = new Claiming(clock);
    this.rpcRecords = new RpcRecords(clock, ids, journal);
    this.#ota = new OtaQueue(this);
  }

  /** Points of one element as a device sent them. One bad key, and all of them are lost. */
  receiveTelemetry(device: Device, ts: number, values: Values): void {
    for (const [key] of values) if (!device.series.has(key) && !isStorableKey(key)) return;
    if (ts < LAST_MONTH_MS) this.saveSeries(device, ts, values);
  }

  /** Client attributes as a device sent them. One bad key, and all of them are lost. */
  receiveAttributes(device: Device, values: Values): void {
    if (!values.every(([key]) => isStorableKey(key))) return;
    this.#set(device, "CLIENT_SCOPE", values);
  }

  /** Shared ones are sent to open polls, changed or not. */
  saveAttributes(device: Device, scope: Scope, values: Values): void {
    this.#set(device, scope, values);
    if (scope === "SHARED_SCOPE") device.notifications.updated(values);
  }

  deleteAttributes(device: Device, scope: Scope, keys: readonly string[]): void {
    if (!this.#exists(device)) return;
    for (const key of keys) device.attributes.delete(scope, key);
    if (scope === "SHARED_SCOPE") device.notifications.deleted(keys);
  }

  /** What the device shall run: its own package, else its profile's. */
  assigned(device: Device): OtaPackage | undefined {
    const id = device.firmwareId ?? this.profiles.get(device.profileId)?.firmwareId;
    return id === undefined ? undefined : this.packages.get(id);
  }

  /** Throws Refused. */
  createDevice(fields: DeviceFields, token?: string): Device {
    this.#checkAssignment(fields, fields.profileId);
    const device = this.devices.create(fields, token);
    this.#notifyAssigned(device);
    this.deviceChanged(device);
    return device;
  }

  /** Throws Refused. */
  updateDevice(device: Device, fields: DeviceFields): void {
    this.#checkAssignment(fields, fields.profileId);
    this.#notifyingChanges([device], () => this.devices.update(device, fields));
    this.deviceChanged(device);
  }

  /** It is kept. */
  deviceChanged(device: Device): void {
    if (this.#exists(device)) this.devices.save(device);
  }

  /** After a restart: assignments that a device has not heard of are sent. */
  resume(): void {
    for (const device of this.devices.list()) {
      const target = this.assigned(device);
      if (target) this.#ota.resume(device, target);
    }
  }

  /** A device makes itself known. */
  provision(request: ProvisionRequest): ProvisionResult {
    const known =
      request.deviceName === undefined ? undefined : this.devices.byName(request.deviceName.trim());
    const result = provision(
      { ...{ profiles: this.profiles, devices: this.devices }, ids: this.#ids, clock: this.clock },
      request,
    );
    if (result.status === "SUCCESS" && !known) this.#notifyAssigned(result.device);
    if (result.status === "SUCCESS") this.deviceChanged(result.device);
    return result;
  }

  deleteDevice(device: Device): void {
    this.claiming.forget(device);
    this.rpcRecords.forget(device);
    this.devices.delete(device);
    this.deviceChanged(device);
  }

  /** Throws Refused. */
  updateProfile(profile: Profile, fields: ProfileFields): void {
    this.#checkAssignment(fields, profile.id);
    const devices = this.devices.list().filter((device) => device.profileId === profile.id);
    this.#notifyingChanges(devices, () => this.profiles.update(profile, fields));
  }

  /** Throws Refused. */
  deleteProfile(profile: Profile): void {
    if (this.devices.list().some((device) => device.profileId === profile.id))
      throw new Refused("The device profile referenced by the devices cannot be deleted!");
    this.profiles.delete(profile);
  }

  /** Throws Refused. */
  deletePackage(target: OtaPackage): void {
    const holds = ({ firmwareId }: { firmwareId?: string | undefined }) => firmwareId === target.id;
    if (this.devices.list().some(holds))
      throw new Refused("The otaPackage referenced by the devices cannot be deleted!");
    if (this.profiles.list().some(holds))
      throw new Refused("The otaPackage referenced by the device profile cannot be deleted!");
    this.packages.delete(target);
  }

  /** Throws Refused. */
  #checkAssignment({ firmwareId }: { firmwareId?: string | undefined }, profileId: string): void {
    if (firmwareId === undefined) return;
    const target = this.packages.get(firmwareId);
    if (!target) throw new Refused("Can't assign non-existent firmware!");
    if (!hasData(target)) throw new Refused("Can't assign firmware with empty data!");
    if (target.profileId !== profileId)
      throw new Refused("Can't assign firmware with different deviceProfile!");
  }

  /** Runs a change and notifies the devices whose package is another one after it. */
  #notifyingChanges(devices: readonly Device[], change: () => void): void {
    const before = devices.map((device) => this.assigned(device));
    change();
    devices.forEach((device, index) => {
      const target = this.assigned(device);
      if (target !== before[index]) this.#ota.changed(device, target);
    });
  }

  #notifyAssigned(device: Device): void {
    const target = this.assigned(device);
    if (target) this.#ota.changed(device, target);
  }

  #set(device: Device, scope: Scope, values: Values): void {
    if (!this.#exists(device)) return;
    const now = this.clock.now();
    for (const [key, value] of values) device.attributes.set(scope, key, value, now);
  }

  saveSeries(device: Device, ts: number, values: Values): void {
    if (!this.#exists(device)) return;
    for (const [key, value] of values) device.series.save(key, ts, value);
  }

  #exists(device: Device): boolean {
    return this.devices.get(device.id) === device;
  }
}
