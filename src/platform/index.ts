// The session with the platform, used by all jobs.

export { type BodyMemory, BodySender, type Fate } from "./body-sender.js";
export { type Job, Loop, type Wait } from "./loop.js";
export type { Pacer } from "./pacer.js";
export { PollTiming } from "./poll-timing.js";
export { CONTENT, EXCHANGE_MS, getAttributes, HEAD_ROOM, PROBE, post } from "./requests.js";
export type { SessionWatcher } from "./session.js";
export { type DeviceRequest, PlatformSession, ROOM_MS } from "./session.js";
export { requestText, requestUntil } from "./wait.js";
