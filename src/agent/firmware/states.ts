// What a restart does with an update in each state, and which state may follow: the only place that
// says so. The journal stores each state before it is acted on.

interface Update {
  /** Value of `fw_state`; undefined: not reported. */
  readonly reported?: string;
  /** State in which a restart continues; undefined: the image that runs then decides. */
  readonly restart?: string;
  /** States that may follow, beside the same one. */
  readonly next: readonly string[];
  /** The image is in the slot, or on its way. */
  readonly isTransfer?: true;
}

const TABLE = {
  idle: { restart: "idle", next: ["downloading", "downloaded", "updated", "failed"] },
  downloading: {
    reported: "DOWNLOADING",
    restart: "downloading",
    next: ["downloaded", "updated", "failed"],
    isTransfer: true,
  },
  downloaded: {
    reported: "DOWNLOADED",
    restart: "downloaded",
    next: ["verified", "updated", "failed"],
    isTransfer: true,
  },
  // An image verified before a restart is verified again.
  verified: {
    reported: "VERIFIED",
    restart: "downloaded",
    next: ["downloaded", "updating", "updated", "failed"],
    isTransfer: true,
  },
  // Back to `verified` if it could not be stored.
  updating: { reported: "UPDATING", next: ["verified", "confirming", "updated", "failed"] },
  confirming: { next: ["updated", "failed"] },
  updated: { reported: "UPDATED", restart: "updated", next: ["downloading", "downloaded", "failed"] },
  failed: { reported: "FAILED", restart: "failed", next: ["downloading", "downloaded", "updated"] },
} as const satisfies Record<string, Update>;

export type State = keyof typeof TABLE;
export const STATES: { readonly [S in State]: Update & { readonly restart?: State } } = TABLE;

export const mayFollow = (from: State, to: State): boolean => from === to || STATES[from].next.includes(to);
