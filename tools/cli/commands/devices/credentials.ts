import { FAILED } from "../../../../hosts/node/exit.js";
import type { Credentials } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { plain } from "../../output/table.js";

/** Its access token. Throws ExitError for a device that has none. */
export function checkHasToken({ credentialsType, credentialsId }: Credentials): string {
  if (credentialsType === "ACCESS_TOKEN") return credentialsId;
  throw new ExitError(
    FAILED,
    `the device has no access token: its credentials are ${plain(credentialsType)}`,
  );
}
