// Replaces firmware.ts in the lean build, which has no updates and rejects the firmware options.
import { rejectLeftOut } from "../options/rules.js";

export const FIRMWARE = rejectLeftOut;

/** Never constructed: without firmware options there is no such job. */
export class Firmware {}
