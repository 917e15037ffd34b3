/**
 * What became of one request. Each request gets exactly one.
 *
 * - `done`: the platform took it: 200 (or 204). `body` is the answer; `whole` is false if it was longer than the request allowed
 *   (then `body` is its beginning).
 * - `refused`: the platform read it and will not have it: 400 to 499 but those below, 500 with a text. Repeating it is of no use.
 * - `busy`: not now: 408, 429, 500 without a body, 502, 503, 504 and the other 5xx. `retryAfterMs` if the platform said.
 * - `lost`: no answer of the platform: no connection, a time-out, an answer that is not HTTP or not the platform's (1xx only,
 *   3xx, 511). It may or may not have been processed. `reason` is for people.
 */
export type Outcome =
  | {
      readonly kind: "done";
      readonly status: number;
      readonly body: Uint8Array;
      readonly whole: boolean;
      readonly date: number | undefined;
    }
  | { readonly kind: "refused"; readonly status: number; readonly body: Uint8Array }
  | { readonly kind: "busy"; readonly status: number; readonly retryAfterMs: number | undefined }
  | { readonly kind: "lost"; readonly reason: string };

/** The reason of a request that others on its connection kept from being sent: it says nothing about the platform. */
export const NO_TURN = "others took all the time";

/** The reason of a request that was sent whole and got not one byte until its deadline. */
export const SILENCE = "no answer in time";

/** The reason of a request whose connection did not come about until its deadline. */
export const UNCONNECTED = "no connection in time";

/** True if the request was sent whole and nothing came back until its deadline. */
export const isSilence = (outcome: Outcome): boolean => {
  return outcome.kind === "lost" && outcome.reason === SILENCE;
};
