// The quick tests run samples of what the slow ones run in full. One seed draws them all; each
// prints it, and MOTE_SEED draws them again.
import { randomInt } from "node:crypto";
import { given } from "./arguments.js";

/** `npm test` draws; `npm run test:all` and a file that is run alone leave nothing out. */
export const IS_SAMPLE = given("sample");

export const SEED = Number(process.env.MOTE_SEED ?? randomInt(2 ** 31));
