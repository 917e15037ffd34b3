// What slots.test.ts leaves out: one and three connections, and points in memory only.
import { slotsStay, slotsStayInMemory } from "./slots.js";

slotsStay(1);
slotsStay(3);
slotsStayInMemory();
