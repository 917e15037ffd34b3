import type { Clock } from "./common/clock.js";
import type { Ids } from "./common/ids.js";
import { Refused } from "./common/refused.js";
import type { Device, Devices } from "./devices.js";
import type { Profile, Profiles } from "./profiles.js";

export interface ProvisionRequest {
  key: string;
  secret: string;
  deviceName: string | undefined;
  /** Proposed by the device. */
  token: string | undefined;
  gateway: boolean;
}

export type ProvisionResult =
  | { readonly status: "SUCCESS"; readonly device: Device }
  | { readonly status: "NOT_FOUND" | "FAILURE" };

const FAILURE: ProvisionResult = { status: "FAILURE" };
const NOT_FOUND: ProvisionResult = { status: "NOT_FOUND" };
const STATE = "provisionState";

/** What provisioning needs of the platform. */
export interface ProvisioningParts {
  readonly profiles: Profiles;
  readonly devices: Devices;
  readonly ids: Ids;
  readonly clock: Clock;
}

/** Handles the provisioning request of a device. */
export function provision(parts: ProvisioningParts, request: ProvisionRequest): ProvisionResult {
  const { key, secret } = request;
  const profile = key === "" || secret === "" ? undefined : parts.profiles.byProvisionKey(key);
  if (!profile || profile.provisionSecret !== secret) return NOT_FOUND;
  const name = request.deviceName?.trim();
  if (profile.strategy === "ALLOW_CREATE_NEW_DEVICES") return create(parts, profile, name, request);
  if (profile.strategy !== "CHECK_PRE_PROVISIONED_DEVICES") return NOT_FOUND;
  const device = name ? parts.devices.byName(name) : undefined;
  if (device?.profileId !== profile.id || device.attributes.get("SERVER_SCOPE", STATE)) return FAILURE;
  return provisioned(device, parts.clock);
}

function create(
  { devices, ids, clock }: ProvisioningParts,
  { id: profileId }: Profile,
  name: string | undefined,
  request: ProvisionRequest,
): ProvisionResult {
  // A name of blanks only.
  if (name === "" && request.deviceName !== "") return FAILURE;
  const additionalInfo = request.gateway ? { gateway: true } : null;
  const fields = { name: name || ids.token(20), profileId, additionalInfo };
  try {
    return provisioned(devices.create(fields, request.token || undefined), clock);
  } catch (error) {
    if (error instanceof Refused) return FAILURE;
    throw error;
  }
}

function provisioned(device: Device, clock: Clock): ProvisionResult {
  device.attributes.set("SERVER_SCOPE", STATE, "provisioned", clock.now());
  return { status: "SUCCESS", device };
}
