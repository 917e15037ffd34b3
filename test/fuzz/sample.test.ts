// A sample of what fuzz.slow.test.ts reads.
import { declare } from "./declare.js";

declare(500);
