// What the platform's device state service keeps as server attributes:
// {"active":true,"lastActivityTime":1700000000000}. Here it is computed when it is read, so that no
// timer has to run for each device.
import type { Attribute } from "../../core/attributes.js";
import type { Device } from "../../core/devices.js";

/** Silence after which a device is inactive: the server's default. */
const INACTIVE_MS = 600_000;
/** The server attribute that says otherwise for one device. */
const TIMEOUT = "inactivityTimeout";

export function isActive({ lastActivityTime, attributes }: Device, now: number): boolean {
  const own = attributes.get("SERVER_SCOPE", TIMEOUT)?.value;
  const ms = typeof own === "bigint" ? Number(own) : INACTIVE_MS;
  return lastActivityTime !== undefined && now - lastActivityTime < ms;
}

/** The server attributes of its activity: none before its first request. */
export function activityOf(device: Device, now: number): [string, Attribute][] {
  const { lastActivityTime: ts } = device;
  if (ts === undefined) return [];
  return [
    ["active", { value: isActive(device, now), ts }],
    ["lastActivityTime", { value: BigInt(ts), ts }],
  ];
}
