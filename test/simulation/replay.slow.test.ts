// The seeds that replay.test.ts leaves out.
import { staysTheSame } from "./replay.js";

for (const seed of [68, 1001, 20_261]) staysTheSame(seed);
