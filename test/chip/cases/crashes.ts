import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";

export const CRASH: Case = {
  name: "crash",
  title: "a crash restarts the board, and its cause and place are client attributes afterwards",
  async run() {
    const bench = await Bench.open("crash", {});
    try {
      await bench.online();
      await bench.ask("fault", { kind: "throw" });
      await bench.until(ONLINE_MS, "the crash as an attribute", async () =>
        /on purpose/.test(String(await bench.client("crash"))),
      );
      const thrown = String(await bench.client("crash"));
      check(/unhandled exception: Error: on purpose; /.test(thrown), thrown);
      await bench.seen();
      await bench.ask("fault", { kind: "hang" });
      await bench.until(
        ONLINE_MS,
        "the hang as an attribute",
        async () => (await bench.client("crash")) !== thrown,
      );
      return {
        thrown,
        hung: String(await bench.client("crash")),
        resetReason: String(await bench.client("resetReason")),
      };
    } finally {
      await bench.close();
    }
  },
};

export const RECOVERY: Case = {
  name: "recovery",
  title: "after five crashes the board is online without its application, and takes an update",
  async run() {
    const bench = await Bench.open("recovery", { fault: "throw" });
    try {
      bench.board.on();
      await bench.until(
        ONLINE_MS * 3,
        "recovery mode",
        async () => (await bench.client("moteRecovery")) !== undefined,
      );
      const told = String(await bench.client("moteRecovery"));
      const { application, imageOf } = await import("../bench.js");
      await bench.assign("2.0.0", application(await imageOf({ version: "2.0.0" })));
      await bench.until(
        ONLINE_MS * 5,
        "the update",
        async () => (await bench.latest("current_fw_version")) === "2.0.0",
      );
      await bench.seen();
      return { moteRecovery: told, starts: bench.board.starts };
    } finally {
      await bench.close();
    }
  },
};
