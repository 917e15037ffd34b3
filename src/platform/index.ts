// The session with the platform, used by all jobs.

export { type Job, Loop, type Wait } from "./loop.js";
export { LostBodies } from "./lost-bodies.js";
export type { Pacer } from "./pacer.js";
export { PollMemory, rememberedTiming } from "./poll-timing.js";
export { CONTENT, EXCHANGE_MS, HEAD_ROOM, PROBE, post, statusText, TOO_LARGE } from "./requests.js";
export type { SessionWatcher } from "./session.js";
export { type DeviceRequest, PlatformSession, ROOM_MS } from "./session.js";
export { requestUntil } from "./wait.js";
