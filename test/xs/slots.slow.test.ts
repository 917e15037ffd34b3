import { slotsStay, slotsStayInMemory } from "./slots.js";

for (const connections of [1, 2, 3] as const) slotsStay(connections);
slotsStayInMemory();
