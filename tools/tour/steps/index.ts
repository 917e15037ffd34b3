import { changed, deleted, readByKey, written } from "./attributes.js";
import { claimCompleted, claimStarted } from "./claim.js";
import type { TourStep } from "./context.js";
import { activated, confirmed, downloaded, newApp, uploaded, verified } from "./firmware.js";
import { provisioned, tokenKept } from "./identity.js";
import { clientSide, oneWay, twoWay, unknown } from "./rpc.js";
import { deviceArray, deviceObject, platformObject } from "./telemetry.js";

/** In order. The agent starts with the platform's time and restarts with its own. */
export const STEPS: readonly TourStep[] = [
  provisioned,
  platformObject,
  tokenKept,
  deviceObject,
  deviceArray,
  written,
  readByKey,
  changed,
  deleted,
  twoWay,
  oneWay,
  unknown,
  clientSide,
  claimStarted,
  claimCompleted,
  uploaded,
  downloaded,
  verified,
  activated,
  confirmed,
  newApp,
];
