// The queue of points that wait for the platform: in memory, and on flash where there is some.
export { BATCH_FRONT, type DropReason, type Drops, Outbox } from "./outbox.js";
export { epochOf, POINT_HEAD, TWO_32 } from "./record.js";
