// The states of an update: what is reported, which state may follow, and what a restart does. The
// journal stores each state before it is acted on.
//
// | state | what is known | after a restart |
// |---|---|---|
// | idle | nothing assigned, or not begun | waits out the rest of `spreadMs` |
// | downloading | `offset` bytes are in the slot, except the header | goes on at `offset` |
// | downloaded | all bytes are in the slot, except the header | verifies them |
// | verified | the checksum was right, and the header is written | verifies the slot again |
// | updating | the image was activated | on trial; else the image that runs decides |
// | updated | the assigned image runs | nothing |
// | failed | `error` says why | waits for the retry, if there is one |

interface Update {
  /** Value of `fw_state`; undefined: not reported. */
  readonly reported?: string;
  /** States that may follow, beside the same one. */
  readonly next: readonly string[];
  /** The image is in the slot, or on its way. */
  readonly isTransfer?: true;
}

const TABLE = {
  idle: { next: ["downloading", "downloaded", "updated", "failed"] },
  downloading: { reported: "DOWNLOADING", next: ["downloaded", "updated", "failed"], isTransfer: true },
  // Back to `downloading`: the file at fw_url may have changed meanwhile.
  downloaded: {
    reported: "DOWNLOADED",
    next: ["downloading", "verified", "updated", "failed"],
    isTransfer: true,
  },
  verified: { reported: "VERIFIED", next: ["updating", "updated", "failed"], isTransfer: true },
  updating: { reported: "UPDATING", next: ["updated", "failed"] },
  updated: { reported: "UPDATED", next: ["downloading", "downloaded", "failed"] },
  failed: { reported: "FAILED", next: ["downloading", "downloaded", "updated"] },
} as const satisfies Record<string, Update>;

export type State = keyof typeof TABLE;
export const STATES: { readonly [S in State]: Update } = TABLE;

export const mayFollow = (from: State, to: State): boolean => from === to || STATES[from].next.includes(to);
