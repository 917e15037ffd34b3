import { closeSync, openSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { readPartitions } from "../../../tools/moddable/esp32/partitions.js";
import { PROJECT } from "../../../tools/project.js";
import { given } from "../../arguments.js";
import { application, Bench, imageOf, UPDATE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import type { Settings } from "../rig.js";

/** Past all headers of an image. */
const SOMEWHERE = 0x20_000;

/** Where each soft reset is a power loss (bench.ts), every failed trial reads as one. */
const BY_POWER = given("soft-reset") ? undefined : /power was lost/;

/** A new image may look for its platform for so long. */
const OFFLINE_MS = 3_600_000;

/** The old image runs again, and the operator reads why. */
async function rolledBack(name: string, settings: Settings, reason: RegExp, ms = UPDATE_MS): Promise<string> {
  await using bench = await Bench.open(`bad-${name}`, {});
  await bench.online();
  await bench.assign("2.0.0", application(await imageOf({ ...settings, version: "2.0.0" })));
  const reported = await bench.failed(ms);
  check(reason.test(reported) || BY_POWER?.test(reported) === true, `fw_error is "${reported}"`);
  await bench.seen();
  const version = await bench.version();
  check(version === "1.0.0", `${version} runs`);
  return reported;
}

const rollback = (name: string, title: string, settings: Settings, reason: RegExp): Case => ({
  name,
  title,
  run: async () => ({ fw_error: await rolledBack(name, settings, reason) }),
});

const NEVER_ONLINE: Case = {
  name: "never-online",
  title: "an image that never reaches the platform is rolled back after an hour",
  async run({ quick }) {
    if (quick) return { skipped: "it takes an hour" };
    const settings = { lost: true };
    return {
      fw_error: await rolledBack(
        "never-online",
        settings,
        /could not reach the platform/,
        OFFLINE_MS + UPDATE_MS,
      ),
    };
  },
};

export const BAD_IMAGES: readonly Case[] = [
  rollback(
    "throws",
    "an image whose application throws at once is rolled back",
    { fault: "throw" },
    /not confirmed \(unhandled exception: Error: on purpose/,
  ),
  rollback(
    "panics",
    "an image that panics at once is rolled back",
    { fault: "panic" },
    /not confirmed \(panic/,
  ),
  rollback(
    "hangs",
    "an image that hangs is ended by the watchdog and rolled back",
    { fault: "hang" },
    /not confirmed \(task watchdog/,
  ),
  NEVER_ONLINE,
  {
    name: "corrupt",
    title: "an image that is damaged never starts: not as it came, and not as it lies in flash",
    async run() {
      const good = application(await imageOf({ version: "2.0.0" }));
      const bad = Buffer.from(good);
      bad[SOMEWHERE]! ^= 0xff;
      await using bench = await Bench.open("corrupt", {});
      await bench.online();
      await bench.assign("3.0.0", bad);
      const reported = await bench.failed(UPDATE_MS);
      check((await bench.version()) === "1.0.0", "the damaged image runs");
      // And now whole on its way, but damaged where it lies, once it was activated.
      await bench.assign("2.0.0", good);
      const from = bench.board.lines.length;
      await bench.board.line(/restart: /, UPDATE_MS, from);
      await bench.board.off();
      const csv = readFileSync(join(PROJECT, "hosts/esp32/flash/sdkconfig/partitions-4mb.csv"), "utf8");
      const slot = readPartitions(csv).find(({ name }) => name === "ota_1")!;
      const file = openSync(bench.board.flash, "r+");
      writeSync(file, Buffer.from([bad[SOMEWHERE]!]), 0, 1, slot.offset + SOMEWHERE);
      closeSync(file);
      bench.board.on();
      await bench.seen();
      check((await bench.version()) === "1.0.0", "a damaged image runs");
      return { fw_error: reported };
    },
  },
];
