// Plain words for the values of `fw_state`: one vocabulary for logs, CLI and console.
const WORDS: Readonly<Record<string, string>> = {
  QUEUED: "assigned",
  INITIATED: "assigned",
  DOWNLOADING: "downloading",
  DOWNLOADED: "downloaded",
  VERIFIED: "verified",
  UPDATING: "on trial",
  UPDATED: "confirmed",
  FAILED: "failed",
};

/** The word for a value of `fw_state`; an unknown value as it is. */
export const updateWord = (state: string): string =>
  Object.hasOwn(WORDS, state) ? (WORDS[state] as string) : state;
