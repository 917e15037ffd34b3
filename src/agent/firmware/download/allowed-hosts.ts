// From where an image may come.
import { isLoopback, type Target } from "../../../http/target.js";
import type { FirmwareOptions } from "../options.js";

/** True if somebody on the way could replace an image unnoticed. */
export const isOpenTo = (target: Target, options: FirmwareOptions): boolean => {
  return (
    !target.secure && !isLoopback(target) && options.publicKey === undefined && options.allowHttp !== true
  );
};

/** Why a file is not fetched from there; undefined if it may be. */
export const refusedTarget = (
  target: Target,
  options: FirmwareOptions,
): "urlHost" | "insecure" | undefined => {
  if (!options.urlHosts?.includes(target.authority)) return "urlHost";
  return isOpenTo(target, options) ? "insecure" : undefined;
};
