// Options of RPC.

/** Limits of server-side and client-side RPC. */
export interface RpcOptions {
  /**
   * Maximum size of a server-side RPC in bytes; larger ones are answered `PARAMS_TOO_LARGE`.
   * Default 8,192; 512 to 1,048,576.
   */
  requestBytes?: number | undefined;
  /**
   * Maximum size of answers to server-side RPCs and from client-side ones, in bytes. Default 8,192;
   * 512 to 65,536 (the platform's limit).
   */
  answerBytes?: number | undefined;
  /**
   * How long an RPC with an unacknowledged answer is remembered so that its handler runs once, in
   * ms.
   *
   * Includes restarts and sleep; ends earlier when a newer RPC supersedes it. Default 86,400,000
   * (24 h); 600,000 to 2,592,000,000.
   */
  rememberMs?: number | undefined;
}

/** The options, complete with defaults. */
export interface RpcLimits {
  readonly requestBytes: number;
  readonly answerBytes: number;
  readonly rememberMs: number;
}

/** Validation rules and defaults. */
export const RPC = {
  requestBytes: [8192, 512, 1_048_576],
  answerBytes: [8192, 512, 65_536],
  rememberMs: [86_400_000, 600_000, 2_592_000_000],
} as const;
