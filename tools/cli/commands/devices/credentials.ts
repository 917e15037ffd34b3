import { FAILED } from "../../../exit-codes.js";
import type { Credentials } from "../../../operator/shapes.js";
import { ExitError } from "../../exit-error.js";
import { plain } from "../../output/table.js";

/** The access token. Throws ExitError if the device uses other credentials. */
export function checkHasToken({ credentialsType, credentialsId }: Credentials): string {
  if (credentialsType === "ACCESS_TOKEN") return credentialsId;
  throw new ExitError(FAILED, `the device has no access token (its credentials: ${plain(credentialsType)})`);
}
