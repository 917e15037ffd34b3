/** `documented`: the statuses of the platform's published API. `deployed`: those of its single server, as found in its source. */
export type Mode = "documented" | "deployed";

/** Where the two differ: in statuses, and in what the server leaves without an answer until its own limit ends it. */
export interface ModeRules {
  /** A body that can't be parsed, or is of the wrong kind: with the parser's text. */
  readonly badBody: 400 | 500;
  /** A member of the wrong type: no text. */
  readonly badMember: 400 | 500;
  /** A provisioning request that lacks something. */
  readonly badProvision: 400 | 500;
  /** A chunk number below zero. */
  readonly badChunk: 400 | 500;
  /** Whether `[]` as telemetry and an empty key in a list of keys are left without an answer. */
  readonly hangs: boolean;
  /** When a request that is still open ends with 503, in milliseconds; undefined: never. */
  readonly asyncCapMs: number | undefined;
}

export const MODES: Record<Mode, ModeRules> = {
  documented: {
    badBody: 400,
    badMember: 400,
    badProvision: 400,
    badChunk: 400,
    hangs: false,
    asyncCapMs: undefined,
  },
  deployed: {
    badBody: 500,
    badMember: 500,
    badProvision: 500,
    badChunk: 500,
    hangs: true,
    asyncCapMs: 30_000,
  },
};
