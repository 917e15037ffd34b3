// Replaces firmware.ts in the lean build, which has no updates and rejects the firmware options.
import { refuseLeftOut } from "../options/rules.js";

export const FIRMWARE = refuseLeftOut;

/** Never constructed: without firmware options there is no such job. */
export class Firmware {}
