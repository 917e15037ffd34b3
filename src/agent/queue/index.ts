// The queue of points that wait for the platform: in memory, and on flash where there is some.
export { type Drops, DropTeller } from "./drops.js";
export { eraOf, POINT_HEAD, TWO_32 } from "./log-entry.js";
export { BATCH_FRONT, Outbox } from "./outbox.js";
