// The quick tests run samples of what the slow ones run in full. One seed draws them all; each prints it, and MOTE_SEED draws them again.
import { randomInt } from "node:crypto";

export const SEED = Number(process.env.MOTE_SEED ?? randomInt(2 ** 31));
