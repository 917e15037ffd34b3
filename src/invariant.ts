// Runtime checks of the promises that the code itself must keep, whatever the platform, the
// application and the machine do.

/** Where a test listens for broken invariants. */
interface Listener {
  moteInvariantBroken?: (what: string) => void;
}

/**
 * States what must hold here. Tests and simulations fail if it does not. Without a listener
 * `holds` is not called, and a board's image contains neither the call nor its text
 * (scripts/board.mjs).
 */
export const invariant = (what: string, holds: () => boolean): void => {
  const { moteInvariantBroken } = globalThis as Listener;
  if (moteInvariantBroken && !holds()) moteInvariantBroken(what);
};
