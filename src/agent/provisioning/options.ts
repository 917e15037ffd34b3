// Options of provisioning.
import { type Check, isText } from "../rules.js";

/** How a device without a token obtains one (POST /api/v1/provision). */
export interface ProvisioningOptions {
  /** Provisioning key of the device profile (POST /api/v1/provision). */
  key: string;
  /** Provisioning secret of the device profile. */
  secret: string;
  /**
   * Name of the device, unique on the platform, 1 to 255 characters. Default: `mote-` and the
   * host's hardware id.
   */
  deviceName?: string | undefined;
}

const isNeeded: Check = (value) =>
  typeof value === "string" && value !== "" ? undefined : "must be a non-empty string";
const isNamed: Check = (value) => (value === undefined ? undefined : isText(value));

/** Validation rules. */
export const PROVISIONING = { key: isNeeded, secret: isNeeded, deviceName: isNamed } as const;
