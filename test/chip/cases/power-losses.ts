import { Dice } from "../../simulation/dice.js";
import { application, Bench, imageOf, ONLINE_MS, UPDATE_MS } from "../bench.js";
import { type Case, check } from "../case.js";

const NUMBERED_MS = 100;
/** Long enough to boot, join and send; the power loss falls anywhere in it. */
const RUN_MS = 25_000;

/** A shared attribute that went is noticed by then. */
const NOTICED_MS = 40_000;

export const TELEMETRY_POWER_LOSS: Case = {
  name: "telemetry-power-loss",
  title: "power losses at random moments of recording: every point that was accepted arrives",
  async run({ seed, quick, say }) {
    const dice = new Dice(seed);
    const powerLosses = quick ? 5 : 50;
    await using bench = await Bench.open("telemetry-power-loss", { numbered: NUMBERED_MS });
    await bench.online();
    for (let n = 1; n <= powerLosses; n++) {
      await new Promise((go) => setTimeout(go, dice.below(RUN_MS)));
      await bench.board.off();
      say(`power loss ${n} of ${powerLosses}, ${bench.values("n").length} points so far`);
      bench.board.on();
    }
    await bench.seen();
    await bench.until(ONLINE_MS, "all that was accepted", () => bench.missing().length < 50);
    // The board goes on recording, so wait for the points that it has accepted until now.
    const accepted = bench.board.lines.length;
    await bench.until(ONLINE_MS, "the last of them", () => {
      const lines = bench.board.lines.slice(0, accepted).join("\n");
      return bench.missing().every((number) => !lines.includes(`accepted ${number}`));
    });
    return { powerLosses, lost: 0, points: bench.values("n").length };
  },
};

export const UPDATE_POWER_LOSS: Case = {
  name: "update-power-loss",
  title: "power losses at random moments of an update: the board always starts, and ends with the new image",
  async run({ seed, quick, say }) {
    const dice = new Dice(seed);
    const powerLosses = quick ? 5 : 50;
    let done = 0;
    let updates = 0;
    let trials = 0;
    const images = [
      application(await imageOf({ version: "2.0.0" })),
      application(await imageOf({ version: "3.0.0" })),
    ];
    await using bench = await Bench.open("update-power-loss", {});
    await bench.online();
    while (done < powerLosses) {
      const version = `${2 + (updates % 2)}.0.0`;
      await bench.assign(version, images[updates % 2]!);
      updates++;
      const began = Date.now();
      const updated = async (): Promise<boolean> =>
        (await bench.latest("current_fw_version")) === version &&
        (await bench.latest("fw_state")) === "UPDATED";
      while (!(await updated())) {
        check(
          Date.now() - began < UPDATE_MS * 3,
          `${version} was never reached: ${await bench.latest("fw_error")}`,
        );
        await new Promise((go) => setTimeout(go, 2000 + dice.below(RUN_MS)));
        if ((await bench.latest("fw_state")) === "FAILED") {
          // A power loss ended the trial. The device tries again by itself, after a minute, ten,
          // sixty. The operator is faster.
          const error = String(await bench.latest("fw_error"));
          check(/power was lost/.test(error), error);
          trials++;
          await bench.unassign();
          await bench.seen();
          await new Promise((go) => setTimeout(go, NOTICED_MS));
          await bench.assign(version, images[(updates - 1) % 2]!);
          await bench.until(ONLINE_MS, "another try", async () =>
            ["DOWNLOADING", "DOWNLOADED", "VERIFIED"].includes(String(await bench.latest("fw_state"))),
          );
        }
        if (done >= powerLosses || (await updated())) continue;
        await bench.board.off();
        done++;
        say(`power loss ${done} of ${powerLosses}, update ${updates}: ${await bench.latest("fw_state")}`);
        bench.board.on();
      }
      await bench.unassign();
    }
    return { powerLosses: done, updates, trialsLost: trials, bricked: 0 };
  },
};
