// Every bit of all that a queue left.
import { bitFlipTests } from "./declare-flips.js";

bitFlipTests();
