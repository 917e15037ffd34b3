// The options of RPC: purpose, unit, default, limits.

export interface RpcOptions {
  /** Longest server-side RPC, in bytes; a longer one is answered `PARAMS_TOO_LARGE`. Default 8,192; 512 to 1,048,576. */
  requestBytes?: number | undefined;
  /** Longest answer to a server-side RPC, and of a client-side one, in bytes. Default 8,192; 512 to 65,536 (the platform takes no more). */
  answerBytes?: number | undefined;
  /**
   * For how long an RPC is remembered whose answer the platform never acknowledged, so that its handler runs once, in ms, restarts and sleep included. Default
   * 86,400,000 (24 h); 600,000 to 2,592,000,000. It ends with the next RPC: what the platform does not hand out then waits no more.
   */
  rememberMs?: number | undefined;
}

/** The options with nothing left out. */
export interface RpcLimits {
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly rememberMs: number;
}

/** What each may be. */
export const RPC = {
  requestBytes: [8192, 512, 1_048_576],
  answerBytes: [8192, 512, 65_536],
  rememberMs: [86_400_000, 600_000, 2_592_000_000],
} as const;
