/** Idle connections end after a minute, busy ones after 100 requests: the real server's defaults. */
export const KEEP_ALIVE_LIMITS = { idleMs: 60_000, requests: 100 };
