// What a device says of the authorities that it trusts.
import type { Operator } from "../operator/operator.js";
import { type Finding, good, warning } from "./finding.js";

/** Nothing of a device that does not say. */
export async function checkTrust(operator: Operator, deviceId: string): Promise<Finding[]> {
  const { moteTrustWarning: ends, moteTrustState: state } = await operator.attributes.get(
    deviceId,
    "CLIENT_SCOPE",
    ["moteTrustWarning", "moteTrustState"],
  );
  const { refused } = typeof state === "object" && state !== null ? (state as { refused?: unknown }) : {};
  if (typeof ends === "string" && ends !== "")
    return [warning("trust", `the device says that ${ends}`, "Have it trust the next one: mote trust push.")];
  if (typeof refused === "object" && refused !== null)
    return [
      warning("trust", "the device did not accept the last announcement", "Show the reason: mote trust list"),
    ];
  return state === undefined ? [] : [good("trust", "the device reports no end of what it trusts")];
}
