// Allowed origins of an image.
import { isLoopback, readUrl, type Target } from "../../http/target.js";
import type { Failure } from "./failures.js";
import type { FirmwareOptions } from "./options.js";

/** True if an attacker on the network could replace an image unnoticed. */
const canBeTampered = (target: Target, options: FirmwareOptions): boolean => {
  return (
    !target.secure && !isLoopback(target) && options.publicKey === undefined && options.allowHttp !== true
  );
};

/** Why a file must not be downloaded from `target`; undefined if it may be. */
export const fileTargetProblem = (
  target: Target,
  options: FirmwareOptions,
): "urlHost" | "insecure" | undefined => {
  if (!options.urlHosts?.includes(target.authority)) return "urlHost";
  return canBeTampered(target, options) ? "insecure" : undefined;
};

/** The same for an image at `url` or, without one, on the platform; `detail` for people. */
export const originProblem = (
  url: string | undefined,
  platform: Target,
  options: FirmwareOptions,
): { readonly failure: Failure; readonly detail: string } | undefined => {
  if (url === undefined)
    return canBeTampered(platform, options) ? { failure: "insecure", detail: "" } : undefined;
  const file = readUrl(url);
  if (!file.ok) return { failure: "urlForm", detail: `it ${file.reason}` };
  const failure = fileTargetProblem(file.target, options);
  return failure && { failure, detail: failure === "urlHost" ? file.target.authority : "" };
};
