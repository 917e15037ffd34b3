// Loaded before each test file: MOTE_SEED replays what a failed property printed. Without it
// nothing is loaded.
const { MOTE_SEED } = process.env;
if (MOTE_SEED) {
  const { configureGlobal } = (await import("fast-check")).default;
  configureGlobal({ seed: Number(MOTE_SEED) });
}

export {};
