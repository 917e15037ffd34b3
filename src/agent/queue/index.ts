// The queue of points that wait for the platform: in memory and, if available, on flash.
export { BATCH_FRONT, type DropReason, type Drops, Outbox } from "./outbox.js";
export { epochOf, POINT_HEAD, TWO_32 } from "./record.js";
