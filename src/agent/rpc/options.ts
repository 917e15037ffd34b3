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
}

/** The options, complete with defaults. */
export interface RpcLimits {
  readonly requestBytes: number;
  readonly answerBytes: number;
}

/** Validation rules and defaults. */
export const RPC = {
  requestBytes: [8192, 512, 1_048_576],
  answerBytes: [8192, 512, 65_536],
} as const;
