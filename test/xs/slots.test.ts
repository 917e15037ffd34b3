// With as many connections as by default; slots.slow.test.ts has the others.
import { slotsStay } from "./slots.js";

slotsStay(2);
