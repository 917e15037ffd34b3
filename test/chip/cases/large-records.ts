import { application, Bench, imageOf, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";

const MINUTES = { quick: 4, whole: 10 };
const UPDATE_AFTER_MS = 60_000;
const RPC_MS = 3000;
const ATTRIBUTE_MS = 10_000;
const CHARACTERS = { rpc: 900, attribute: 8000 };
const VERSION = "2.0.0";

/** Node's TLS fills records of 16 KiB, as Go's does, whatever length a client asks for. */
export const LARGE_RECORDS: Case = {
  name: "large-records",
  title:
    "points, RPCs, attributes of 8 KB and an update at once, in TLS records of 16 KB: no crash, no point lost",
  async run({ quick, say }) {
    const settings = { secure: true, numbered: 100 };
    await using bench = await Bench.open("large-records", settings, "soft");
    const { board } = bench;
    const crashes = (): string[] => board.lines.filter((line) => /the run before ended with/.test(line));
    let [rpcs, refused, attributes] = [0, 0, 0];
    let over = false;
    const every = async (ms: number, step: () => Promise<unknown>): Promise<void> => {
      while (!over) {
        await step();
        await new Promise((go) => setTimeout(go, ms));
      }
    };
    const call = async (): Promise<void> => {
      const sent = { v: "x".repeat(CHARACTERS.rpc) };
      const answer = await bench.ask("echo", sent).catch(() => undefined);
      if (JSON.stringify(answer) === JSON.stringify(sent)) rpcs++;
      else refused++;
    };
    const change = async (): Promise<void> => {
      const value = `${attributes++}`.padEnd(CHARACTERS.attribute, "y");
      await bench.tenant.attributes.set(await bench.needId(), "SHARED_SCOPE", { large: value });
    };
    try {
      await bench.online();
      const began = Date.now();
      const end = began + MINUTES[quick ? "quick" : "whole"] * 60_000;
      const loops = [every(RPC_MS, call), every(ATTRIBUTE_MS, change)];
      await new Promise((go) => setTimeout(go, UPDATE_AFTER_MS));
      await bench.assign(VERSION, application(await imageOf({ ...settings, version: VERSION })));
      while (Date.now() < end) {
        await new Promise((go) => setTimeout(go, 20_000));
        const state = await bench.latest("fw_state");
        say(`${bench.values("n").length} points, ${rpcs} RPCs, ${attributes} attributes, ${state}`);
        check(crashes().length === 0, crashes().join("\n"));
      }
      over = true;
      await Promise.all(loops);
      const version = await bench.latest("current_fw_version");
      check(version === VERSION, `it runs ${version}: ${await bench.latest("fw_error")}`);
      const accepted = bench.accepted();
      await bench.until(
        ONLINE_MS,
        "all points that were accepted",
        () => bench.missing(accepted).length === 0,
      );
      const { leastFree, engineLeft } = await bench.memory();
      return { points: accepted.length, lost: 0, rpcs, refused, attributes, leastFree, engineLeft };
    } finally {
      over = true;
    }
  },
};
