/** Sessions kept per device; ended polls are among them. */
const MOST = 1_000;

/** Adds to a set of sessions; the oldest makes room. */
export function addBounded<T>(sessions: Set<T>, session: T): void {
  for (const oldest of sessions) {
    if (sessions.size < MOST) break;
    sessions.delete(oldest);
  }
  sessions.add(session);
}
