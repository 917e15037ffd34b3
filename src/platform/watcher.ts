import type { Outcome } from "../http/outcome.js";

/** Who sent a request. */
export interface Sender {
  /** What was sent at `since` has come to its end. */
  ended(outcome: Outcome, since: number): void;
}

/** Notified of what happens on a session. */
export interface SessionWatcher {
  /** The application asks for something that can't wait for `start()`. */
  asked(): void;
  /** The `Date` of an answer. Over http it is as good as all else that comes, and stamps only what goes the same way. */
  dated(ms: number): void;
  /** The platform took a request with the token. */
  reached(): void;
  /** What the agent published was found on the platform. */
  proven(): void;
  /** The platform answers 401 to the token. */
  unauthorized(): void;
}
