// `mote devices token NAME --renew`: a device that lost its token may provision itself once more, and has its token again.
import { FAILED } from "../../../../hosts/node/exit.js";
import type { Operator } from "../../../operator/operator.js";
import type { Device } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { note, outJson, plain } from "../../output/table.js";
import { checkHasToken } from "./credentials.js";

/** The platform's own note that a device was provisioned: as long as it is there, the next attempt is refused. */
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
    "if it is on and has the profile's key, within ten minutes. Until then whoever has that key may do so in its name.";
  note(
    wasProvisioned
      ? `${plain(device.name)} may provision itself once more, and gets its own token again: ${next}`
      : `${plain(device.name)} may provision itself as it is: ${next}`,
  );
}

/** What the platform itself refuses, with the way round it. */
function checkStrategy(strategy: unknown, profile: string, device: string): void {
  if (strategy === "CHECK_PRE_PROVISIONED_DEVICES") return;
  if (strategy === "ALLOW_CREATE_NEW_DEVICES")
    throw new ExitError(
      FAILED,
      `the profile ${profile} lets devices create themselves, and then the platform refuses a name that is there: rename ${device} and it creates another of that name, without the history; or set the profile to check for pre-provisioned devices, and call this again`,
    );
  throw new ExitError(
    FAILED,
    `the profile ${profile} does not let devices provision themselves: give ${device} its token by hand (mote devices token ${device})`,
  );
}
