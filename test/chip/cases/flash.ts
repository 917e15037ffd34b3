// `mote flash` against the emulated chip in its download mode, by the esptool that is installed:
// what is on flash then boots and sends.
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Bench, imageOf, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { CHIP, keptAt } from "../chip.js";
import { eraseFlash, moteAtBoard, writePage } from "../download.js";
import { TITLE } from "../rig.js";

const page = (): string => keptAt("page");

export const CABLE_FLASH: Case = {
  name: "flash",
  title: "mote flash writes a board by its cable, keeps what it stored, and refuses what does not fit it",
  async run({ say }) {
    rmSync(page(), { recursive: true, force: true });
    await using bench = await Bench.open("by-cable", {}, "soft");
    const { board } = bench;
    eraseFlash(board.flash);
    const first = await write(bench, "1.0.0", /^stored +nothing yet$/m);
    say(`a new board: ${first.bytes} bytes in ${first.seconds} s`);
    const again = await write(bench, "2.0.0", /^stored +stays/m);
    say(`another program: ${again.bytes} bytes in ${again.seconds} s`);
    const devices = bench.localPlatform.platform.core.devices.list().length;
    check(devices === 1, `the board has lost its token: ${devices} devices`);
    for (const line of await refusals(board.flash)) say(`refused: ${line}`);
    return { bytes: again.bytes, firstSeconds: first.seconds, againSeconds: again.seconds };
  },
};

/** By the command, from a folder for a web page; then the board runs it until a point arrives. */
async function write(
  bench: Bench,
  version: string,
  stored: RegExp,
): Promise<{ bytes: number; seconds: number }> {
  const { board } = bench;
  writePage(await imageOf({ version }), { name: TITLE, version }, page());
  const { code, out, said, seconds } = await moteAtBoard(board.flash, ["flash", page()]);
  check(code === 0, said);
  check(stored.test(out), `what the board stored: ${out}`);
  const [, count = ""] = /^written .* ([\d,]+) bytes/m.exec(out) ?? [];
  const bytes = Number(count.replaceAll(",", ""));
  await bench.online();
  await bench.until(ONLINE_MS, version, async () => (await bench.latest("current_fw_version")) === version);
  await board.off();
  return { bytes, seconds };
}

/** What does not fit is refused by its name, and the flash stays as it is. */
async function refusals(flash: string): Promise<string[]> {
  const before = readFileSync(flash);
  const refused = async (
    name: string,
    at: number,
    bytes: readonly number[],
    why: RegExp,
  ): Promise<string> => {
    const file = join(page(), CHIP.name, name);
    const whole = readFileSync(file);
    const changed = Buffer.from(whole);
    changed.set(bytes, at);
    writeFileSync(file, changed);
    const { code, said } = await moteAtBoard(flash, ["flash", page()]);
    writeFileSync(file, whole);
    check(code === 1 && why.test(said), `${name}, changed, ended with ${code}: ${said}`);
    check(readFileSync(flash).equals(before), `${name}, changed: the flash is another now`);
    return said.trim().split("\n").pop() ?? "";
  };
  return [
    // The size of NVS.
    await refused("partition-table.bin", 8, [0, 0x50, 0, 0], /partition table.*--erase/s),
    // A C6.
    await refused("xs_esp32.bin", 12, [13, 0], /for an esp32c6/),
    // 16 MB.
    await refused("bootloader.bin", 3, [0x4f], /flash of 16 MB, the board has 4 MB/),
  ];
}
