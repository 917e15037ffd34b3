// NVS, where token, Wi-Fi and the journal of RPCs lie: the power is lost while it is written, and
// what lies there is damaged.
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { Dice } from "../../simulation/dice.js";
import { Bench, imageOf } from "../bench.js";
import { type Case, check } from "../case.js";
import { DEVICE } from "../rig.js";

/** hosts/esp32/flash/sdkconfig/partitions-4mb.csv */
const NVS = { from: 0x9000, to: 0xf000, page: 0x1000 };
/** From the power on, with time to boot, to ask, to store and to be answered. */
const PROVISIONING_MS = 6000;
const WRITING_MS = 15_000;
const LOOP_MS = 15_000;

export const NVS_POWER_LOSS: Case = {
  name: "nvs-power-loss",
  title:
    "power losses while it is provisioned and while NVS turns its pages: one device, one token, always back",
  async run({ seed, quick, say }) {
    const dice = new Dice(seed);
    const [provisioned, written] = quick ? [4, 4] : [15, 15];
    await using bench = await Bench.open("nvs-power-loss", {});
    const { board, tenant } = bench;
    const image = await imageOf({});
    for (let n = 1; n <= provisioned; n++) {
      await board.off();
      const id = await bench.id();
      if (id !== undefined) await tenant.devices.delete(id);
      rmSync(board.flash);
      board.write(image);
      board.on();
      await new Promise((go) => setTimeout(go, 500 + dice.below(PROVISIONING_MS)));
      await board.off();
      say(
        `power loss ${n} of ${provisioned} in provisioning: ${(await bench.id()) ? "made" : "not made yet"}`,
      );
      await bench.online();
    }
    const token = () => bench.localPlatform.platform.core.devices.byName(DEVICE)?.credentials.credentialsId;
    const first = token();
    let writes = 0;
    for (let n = 1; n <= written; n++) {
      const end = Date.now() + 1000 + dice.below(WRITING_MS);
      while (Date.now() < end)
        if (await bench.ask("echo", { n: writes }, 5000).catch(() => undefined)) writes++;
      await board.off();
      say(`power loss ${n} of ${written} while it stores RPCs, ${writes} so far`);
      await bench.online();
      check(token() === first, "the device has another token");
    }
    return { inProvisioning: provisioned, inWriting: written, rpcsStored: writes };
  },
};

/** What NVS holds afterwards: the whole of it, or one page. */
const DAMAGES: readonly (readonly [what: string, from: number, to: number, byte: (dice: Dice) => number])[] =
  [
    ["erased", NVS.from, NVS.to, () => 0xff],
    ["all of it zero", NVS.from, NVS.to, () => 0],
    ["all of it by chance", NVS.from, NVS.to, (dice) => dice.below(256)],
    ["its first page by chance", NVS.from, NVS.from + NVS.page, (dice) => dice.below(256)],
    ["half of its first page zero", NVS.from + 64, NVS.from + NVS.page / 2, () => 0],
  ];

export const DAMAGED_NVS: Case = {
  name: "damaged-nvs",
  title: "with a damaged NVS it starts, as a new device under its old name, says so, and does not loop",
  async run({ seed, say }) {
    const dice = new Dice(seed);
    const figures: Record<string, string> = {};
    await using bench = await Bench.open("damaged-nvs", {});
    const { board, tenant } = bench;
    await bench.online();
    for (const [what, from, to, byte] of DAMAGES) {
      await board.off();
      const file = openSync(board.flash, "r+");
      writeSync(
        file,
        Uint8Array.from({ length: to - from }, () => byte(dice)),
        0,
        to - from,
        from,
      );
      closeSync(file);
      const { length } = board.lines;
      const before = bench.points();
      board.on();
      await new Promise((go) => setTimeout(go, LOOP_MS));
      const lines = board.lines.slice(length);
      check(
        lines.filter((line) => line.startsWith("rst:")).length <= 1,
        `${what}: ${lines.slice(-12).join("\n")}`,
      );
      const isRefused = lines.some((line) => /provisioning refused/.test(line));
      figures[what] = isRefused ? "a new device, refused under its old name" : "the same device";
      if (isRefused) await tenant.devices.delete(await bench.needId());
      else
        check(bench.points() > before, `${what}: neither refused nor online: ${lines.slice(-12).join("\n")}`);
      await bench.seen();
      say(`${what}: ${figures[what]}; back`);
    }
    return figures;
  },
};
