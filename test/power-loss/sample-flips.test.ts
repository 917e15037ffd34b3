// One bit of each byte, drawn by the seed. All eight: bit-flips.slow.test.ts.
import { SEED } from "../sample.js";
import { Dice } from "../simulation/dice.js";
import { bitFlipTests } from "./declare-flips.js";

bitFlipTests(new Dice(SEED));
