// POST provision:
//
//   {"deviceName":"greenhouse-7","provisionDeviceKey":"...","provisionDeviceSecret":"...",
//    "credentialsType":"ACCESS_TOKEN","token":"..."}
//
// The answer always has status 200:
//
//   {"credentialsValue":"TOKEN","credentialsType":"ACCESS_TOKEN","status":"SUCCESS"}
//   {"errorMsg":"Provision data was not found!","status":"NOT_FOUND"}
//   {"errorMsg":"Failed to provision device!","status":"FAILURE"}
//
// NOT_FOUND: wrong key or secret, or provisioning is off. FAILURE: the name is taken, or was
// provisioned before.

import { checkToken } from "./paths.js";
import type { Secret } from "./secret.js";
import { parseObject } from "./text/json.js";
import { quote } from "./text/text.js";

export interface ProvisionAsk {
  readonly key: Secret;
  readonly secret: Secret;
  readonly deviceName: string;
  /**
   * Proposed token. A profile of pre-created devices ignores it and answers with the device's own.
   */
  readonly token?: Secret | undefined;
}

export type ProvisionAnswer =
  | { readonly kind: "success"; readonly token: string }
  | { readonly kind: "not-found" }
  | { readonly kind: "failure" }
  /** `reason` contains nothing of the answer. */
  | { readonly kind: "malformed"; readonly reason: string };

export const encodeProvision = (ask: ProvisionAsk): string => {
  const names = `"deviceName":${quote(ask.deviceName)}`;
  const secrets = `"provisionDeviceKey":${quote(ask.key.reveal())},"provisionDeviceSecret":${quote(ask.secret.reveal())}`;
  const token =
    ask.token === undefined ? "" : `,"credentialsType":"ACCESS_TOKEN","token":${quote(ask.token.reveal())}`;
  return `{${names},${secrets}${token}}`;
};

const malformed = (what: string): ProvisionAnswer => ({
  kind: "malformed",
  reason: `provisioning answer: ${what}`,
});

/** Parses the answer. A success without a usable access token is malformed. */
export const parseProvision = (text: string): ProvisionAnswer => {
  const answer = parseObject(text);
  if (!answer) return malformed("not an object");
  const { status, credentialsType, credentialsValue } = answer;
  if (status === "NOT_FOUND") return { kind: "not-found" };
  if (status === "FAILURE") return { kind: "failure" };
  if (status !== "SUCCESS") return malformed("unknown status");
  if (credentialsType !== "ACCESS_TOKEN") return malformed("the credentials are not an access token");
  const problem = checkToken(credentialsValue);
  return problem === undefined ? { kind: "success", token: credentialsValue as string } : malformed(problem);
};
