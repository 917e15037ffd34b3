import { application, Bench, imageOf, ONLINE_MS, UPDATE_MS } from "../bench.js";
import { type Case, check } from "../case.js";

/**
 * Objects and buffers until there is no memory: where not even 20 bytes are left the SDK fails to
 * say so, and the chip panics.
 */
const CAUSES = [
  ["slots", /memory full/],
  ["hang", /^task watchdog/],
  ["chunks", /memory full|panic/],
] as const;

export const CRASH: Case = {
  name: "crash",
  title: "a crash restarts the board, and its cause and place are client attributes afterwards",
  async run() {
    await using bench = await Bench.open("crash", {}, "soft");
    await bench.online();
    await bench.ask("fault", { kind: "throw" });
    await bench.until(ONLINE_MS, "the crash as an attribute", async () =>
      /on purpose/.test(String(await bench.client("crash"))),
    );
    const thrown = String(await bench.client("crash"));
    check(/unhandled exception: Error: on purpose; /.test(thrown), thrown);
    // Four crashes: the fifth would be recovery mode. Each cause differs from the one before.
    const causes: Record<string, string> = {};
    for (const [kind, cause] of CAUSES) {
      await bench.seen();
      await bench.ask("fault", { kind });
      await bench.until(ONLINE_MS, `${kind}, as an attribute`, async () =>
        cause.test(String(await bench.client("crash"))),
      );
      causes[kind] = String(await bench.client("crash"));
    }
    return {
      thrown,
      ...causes,
      resetReason: String(await bench.client("resetReason")),
    };
  },
};

export const RECOVERY: Case = {
  name: "recovery",
  title: "after five crashes the board is online without its application, and takes an update",
  async run() {
    await using bench = await Bench.open("recovery", { fault: "throw" }, "soft");
    bench.board.on();
    await bench.until(
      ONLINE_MS * 3,
      "recovery mode",
      async () => (await bench.client("moteRecovery")) !== undefined,
    );
    const reported = String(await bench.client("moteRecovery"));
    await bench.assign("2.0.0", application(await imageOf({ version: "2.0.0" })));
    // As far as the restart: bad-images.ts goes on from there, by the power.
    await bench.until(UPDATE_MS, "the update", async () =>
      ["VERIFIED", "UPDATING", "UPDATED"].includes(String(await bench.latest("fw_state"))),
    );
    return { moteRecovery: reported, starts: bench.board.starts };
  },
};
