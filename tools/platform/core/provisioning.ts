import type { Ids } from "./common/ids.js";
import { Refused } from "./common/refused.js";
import type { Credentials, Device, Devices } from "./devices.js";
import type { Profile, Profiles } from "./profiles.js";

export interface ProvisionRequest {
  key: string;
  secret: string;
  deviceName: string | undefined;
  credentialsType: Credentials["type"];
  /** Proposed by the device; what of these counts hangs on the type. */
  token: string | undefined;
  hash: string | undefined;
  clientId: string | undefined;
  username: string | undefined;
  password: string | undefined;
  gateway: boolean;
}

export type ProvisionResult =
  | { readonly status: "SUCCESS"; readonly device: Device }
  | { readonly status: "NOT_FOUND" | "FAILURE" }
  /** The platform never answers. */
  | { readonly status: "silence" };

const FAILURE: ProvisionResult = { status: "FAILURE" };
const NOT_FOUND: ProvisionResult = { status: "NOT_FOUND" };
const STATE = "provisionState";

/** Devices that make themselves known. */
export class Provisioning {
  readonly #profiles: Profiles;
  readonly #devices: Devices;
  readonly #ids: Ids;
  readonly #now: () => number;

  constructor(profiles: Profiles, devices: Devices, ids: Ids, now: () => number) {
    this.#profiles = profiles;
    this.#devices = devices;
    this.#ids = ids;
    this.#now = now;
  }

  provision(request: ProvisionRequest): ProvisionResult {
    const { key, secret } = request;
    const profile = key === "" || secret === "" ? undefined : this.#profiles.byProvisionKey(key);
    if (profile?.strategy === "X509_CERTIFICATE_CHAIN") return { status: "silence" };
    if (!profile || profile.provisionSecret !== secret) return NOT_FOUND;
    const name = request.deviceName?.trim();
    if (profile.strategy === "ALLOW_CREATE_NEW_DEVICES") return this.#create(profile, name, request);
    if (profile.strategy === "CHECK_PRE_PROVISIONED_DEVICES") return this.#check(profile, name);
    return NOT_FOUND;
  }

  #create(profile: Profile, name: string | undefined, request: ProvisionRequest): ProvisionResult {
    // Only blanks: a name that comes to nothing.
    if (name === "" && request.deviceName !== "") return FAILURE;
    const fields = {
      name: name || this.#ids.token(20),
      profileId: profile.id,
      additionalInfo: request.gateway ? { gateway: true } : null,
    };
    try {
      const token = request.credentialsType === "ACCESS_TOKEN" ? request.token || undefined : undefined;
      const device = this.#devices.create(fields, token);
      if (request.credentialsType !== "ACCESS_TOKEN") this.#otherCredentials(device, request);
      this.#mark(device);
      return { status: "SUCCESS", device };
    } catch (error) {
      if (error instanceof Refused) return FAILURE;
      throw error;
    }
  }

  #check(profile: Profile, name: string | undefined): ProvisionResult {
    const device = name ? this.#devices.byName(name) : undefined;
    if (device?.profileId !== profile.id) return FAILURE;
    if (device.attributes.get("SERVER_SCOPE", STATE)) return FAILURE;
    this.#mark(device);
    return { status: "SUCCESS", device };
  }

  #otherCredentials(device: Device, request: ProvisionRequest): void {
    const { credentialsType: type, hash, clientId = null, username = null, password = null } = request;
    const value = type === "MQTT_BASIC" ? JSON.stringify({ clientId, userName: username, password }) : null;
    const id = type === "X509_CERTIFICATE" ? hash : (clientId ?? username);
    try {
      this.#devices.setCredentials(device, { type, credentialsId: id ?? "", value: value ?? hash ?? null });
    } catch (error) {
      this.#devices.delete(device);
      throw error;
    }
  }

  #mark(device: Device): void {
    device.attributes.set("SERVER_SCOPE", STATE, "provisioned", this.#now());
  }
}
