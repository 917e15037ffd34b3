// The queue of points that wait for the platform: in memory, and on flash where there is some.
export { DropNotifier, type Drops } from "./drops.js";
export { epochOf, POINT_HEAD, TWO_32 } from "./log-entry.js";
export { BATCH_FRONT, Outbox } from "./outbox.js";
