// The session with the platform: what every job reaches it by.
export { ask } from "./call.js";
export { type Job, Loop, type Wait } from "./loop.js";
export { PollMemory, rememberedTiming } from "./poll-ceiling.js";
export { Lane } from "./request-channel.js";
export { CONTENT, HEAD_ROOM, PROBE, post } from "./requests.js";
export { type DeviceRequest, Link } from "./session.js";
export type { LinkWatcher } from "./watcher.js";
