import { hostileDeeds } from "../../hosts/hostile-operator.js";
import { Dice } from "../../simulation/dice.js";
import { application, Bench, imageOf, leastOf, type Memory } from "../bench.js";
import { type Case, check, type Figures } from "../case.js";

const MINUTES = { quick: 5, whole: 60 };
/** What the board takes of an RPC: hosts/esp32/memory-plan.ts. */
const LIMIT = 1024;
const UPDATE_EVERY_MS = 600_000;
/** In the image: the boot loader would refuse it. */
const SOMEWHERE = 200_000;
const ANSWER_MS = 60_000;

/** Node's TLS fills records of 16 KiB. */
export const OPERATOR: Case = {
  name: "operator",
  title:
    "whatever an operator sends for an hour, over TLS, with updates: no restart, and the heap stays whole",
  async run({ quick, seed, say }) {
    const settings = { secure: true, numbered: 1000 };
    await using bench = await Bench.open("operator", settings, "soft");
    const dice = new Dice(seed);
    const bad = Buffer.from(application(await imageOf({ ...settings, version: "2.0.0" })));
    bad[SOMEWHERE]! ^= 0xff;
    const echo = (params: unknown): Promise<unknown> =>
      bench.ask("echo", params).catch((error: Error) => error.message);
    const share = async (values: Record<string, unknown>): Promise<unknown> =>
      bench.tenant.attributes.set(await bench.needId(), "SHARED_SCOPE", values);
    const deeds = hostileDeeds(dice, LIMIT, { echo, share });
    const memories: Memory[] = [];
    let [done, updates] = [0, 0];
    await bench.online();
    const began = Date.now();
    const end = began + MINUTES[quick ? "quick" : "whole"] * 60_000;
    let said = began;
    while (Date.now() < end) {
      if (Date.now() >= began + updates * UPDATE_EVERY_MS) await bench.assign(`bad-${++updates}`, bad);
      await dice.pick(deeds)();
      done++;
      await bench.until(ANSWER_MS, `an answer after deed ${done}`, async () => {
        const memory = await bench.memory().catch(() => undefined);
        if (memory) memories.push(memory);
        return memory !== undefined;
      });
      const starts = bench.board.lines.filter((line) => line.startsWith("rst:")).length;
      check(starts === 1, `deed ${done} restarted the board: ${bench.board.lines.slice(-12).join("\n")}`);
      if (Date.now() > said + 60_000) {
        said = Date.now();
        say(`${done} deeds, ${updates} updates, ${JSON.stringify(memories.at(-1))}`);
      }
    }
    const { largest, leastFree, engineLeft, stackLeft } = leastOf(memories);
    const figures: Figures = {
      deeds: done,
      updates,
      restarts: 0,
      fw_error: String(await bench.latest("fw_error")),
      "largest.first": memories[0]!.largest,
      "largest.least": largest,
      "largest.last": memories.at(-1)!.largest,
      leastFree,
      engineLeft,
      stackLeft,
    };
    return figures;
  },
};
