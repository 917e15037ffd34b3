// `mote devices token NAME --renew`: lets a device that lost its token provision once more.
import { FAILED } from "../../../exit-codes.js";
import type { Operator } from "../../../operator/operator.js";
import type { Device } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { note, outJson, plain, quoted } from "../../output/table.js";
import { checkHasToken } from "./credentials.js";

/** Server attribute of a provisioned device. Delete it to let the device provision again. */
const STATE = "provisionState";

export async function renew(operator: Operator, device: Device, json: boolean | undefined): Promise<void> {
  const id = device.id.id;
  checkHasToken(await operator.devices.credentials(id));
  const profile = await operator.profiles.get(device.deviceProfileId?.id ?? "");
  checkStrategy(profile.provisionType, plain(profile.name), plain(device.name));
  const before = await operator.attributes.get(id, "SERVER_SCOPE", [STATE]);
  const wasProvisioned = Object.hasOwn(before, STATE);
  if (wasProvisioned) await operator.attributes.delete(id, "SERVER_SCOPE", [STATE]);
  if (json) return outJson({ id, name: device.name, wasProvisioned });
  const next =
    "It will, within ten minutes, if it is on and has the profile's key. Until then, anyone with that key can impersonate it.";
  note(
    wasProvisioned
      ? `${plain(device.name)} can provision once more and gets the same token. ${next}`
      : `${plain(device.name)} can already provision. ${next}`,
  );
}

/** Explains strategies with which the platform would refuse. */
function checkStrategy(strategy: unknown, profile: string, device: string): void {
  if (strategy === "CHECK_PRE_PROVISIONED_DEVICES") return;
  if (strategy === "ALLOW_CREATE_NEW_DEVICES")
    throw new ExitError(
      FAILED,
      `profile "${profile}" creates new devices and refuses existing names: set its strategy to "check pre-provisioned devices" and retry, or rename ${device} so that a new device is created without the history`,
    );
  throw new ExitError(
    FAILED,
    `profile "${profile}" does not allow provisioning: enter the token on the device (show it: mote devices token ${quoted(device)})`,
  );
}
