// The options of provisioning: purpose, unit, default, limits.
import { isText, type Judge } from "./rules.js";

export interface ProvisioningOptions {
  /** The device profile's provisioning key (POST /api/v1/provision). */
  key: string;
  /** The device profile's provisioning secret. */
  secret: string;
  /** The device's name, unique on the platform. Default: `mote-` and the host's hardware id. 1 to 255 characters. */
  deviceName?: string | undefined;
}

const isNeeded: Judge = (value) =>
  typeof value === "string" && value !== "" ? undefined : "is a text that is not empty";
const isNamed: Judge = (value) => (value === undefined ? undefined : isText(value));

/** What each may be. */
export const PROVISIONING = { key: isNeeded, secret: isNeeded, deviceName: isNamed } as const;
