// Every program of tests and simulations fails if an invariant of src does not hold. It throws, and
// rejects too, because the agent catches what an application throws.
const listener = globalThis as { moteInvariantBroken?: (what: string) => void };

listener.moteInvariantBroken = (what) => {
  const error = new Error(`invariant broken: ${what}`);
  void Promise.reject(error);
  throw error;
};
