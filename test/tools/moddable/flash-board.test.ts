// `mote flash` with a fake esptool: it writes part by part, or nothing.
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import test from "ava";
import { checkBoard } from "../../../tools/doctor/board.js";
import { findEsptool } from "../../../tools/moddable/flash/esptool.js";
import { findFirmware, nvsOf } from "../../../tools/moddable/flash/firmware.js";
import { flashBoard } from "../../../tools/moddable/flash/flash-board.js";
import { SdkError } from "../../../tools/moddable/sdk.js";
import { scratch } from "../scratch.js";
import { type EsptoolScript, fakeEsptool, ROWS, tableOf, writeBuild } from "./board.js";

/** `offset`: where the build has its partition table. */
function rig(played: EsptoolScript, table = tableOf(ROWS), offset = "0x8000") {
  const home = scratch();
  const [bin, project] = [join(home, "bin"), join(home, "project")];
  for (const folder of [bin, project]) mkdirSync(folder);
  const args = join(writeBuild(project, { chip: "esp32c3" }), "flash_args");
  writeFileSync(args, readFileSync(args, "utf8").replace("0x8000 ", `${offset} `));
  writeFileSync(join(home, "table"), table);
  const port = join(home, "ttyACM0");
  writeFileSync(port, "");
  const calls = fakeEsptool(bin, { table: join(home, "table"), ...played });
  const env = { PATH: [bin, process.env.PATH].join(delimiter) };
  const asked: string[] = [];
  const flash = async (more: { erase?: boolean; port?: string | undefined } = {}) =>
    flashBoard(await findEsptool(env), findFirmware(project), {
      ...{ port, baud: 115_200, erase: false, say: () => {} },
      confirm: async (question) => void asked.push(question),
      ...more,
    });
  return { flash, asked, project, port, bin, called: () => readFileSync(calls, "utf8") };
}

test("a board is flashed part by part, and keeps what it stored", async (t) => {
  const { flash, called, port } = rig({});
  t.like(await flash(), { table: "same", board: { chip: "esp32c3", port, flashBytes: 4 << 20 } });
  t.regex(
    called(),
    /--chip esp32c3 --port \S+ --baud 115200 write-flash 0x0 \S+bootloader.bin 0x8000 \S+ 0x10000 \S+ 0x20000 /,
  );
  t.notRegex(called(), /erase|merged/);
  t.like(await rig({ table: "" }).flash(), { table: "none" });
});

for (const [what, played, message] of [
  ["another chip", { chip: "ESP32" }, /is an esp32,/],
  ["a small flash", { flash: "2MB" }, /the board has 2 MB/],
  ["a silent board", { fails: ["flash-id", "Failed to connect to ESP32-C3"] }, /Failed to connect.*BOOT/s],
  ["an old esptool", { version: "4.8.1" }, /4\.8\.1 is too old/],
] as const)
  test(`refuses ${what} before it writes, and lets the board go on`, async (t) => {
    const { flash, called } = rig(played);
    await t.throwsAsync(flash(), { instanceOf: SdkError, message });
    t.notRegex(called(), /write-flash/);
    t.is(/flash-id/.test(called()) && !("fails" in played), /hard-reset read-mac\n$/.test(called()));
  });

test("says that no USB serial port was found where esptool tried only the computer's own", async (t) => {
  const said = "Connecting to /dev/ttyS0...\nCould not connect to an Espressif device.";
  const { flash } = rig({ fails: ["flash-id", said] });
  await t.throwsAsync(flash({ port: undefined }), { message: /ttyS0.*No USB serial port was found/s });
  await t.throwsAsync(flash(), { message: /hold BOOT/ });
  const found = rig({ fails: ["flash-id", said.replace("ttyS0", "ttyUSB0")] });
  await t.throwsAsync(found.flash({ port: undefined }), { message: /hold BOOT/ });
});

for (const [what, table] of [
  ["another partition table", tableOf(ROWS.slice(0, 4))],
  ["an unreadable one", randomBytes(0xc00)],
] as const)
  test(`refuses a board with ${what}, and erases it only after asking`, async (t) => {
    const { flash, asked, called } = rig({}, table);
    await t.throwsAsync(flash(), { instanceOf: SdkError, message: /Nothing was written/ });
    t.notRegex(called(), /write-flash/);
    t.is((await flash({ erase: true })).table, "different");
    t.regex(asked.join(), /undelivered points are lost\. An encrypted board does not start/);
    t.regex(called(), /write-flash --erase-all 0x0/);
  });

test("takes a protected build's moved table for another table, and makes no NVS for it", async (t) => {
  const { flash, project } = rig({}, tableOf(ROWS), "0xf000");
  await t.throwsAsync(flash(), { instanceOf: SdkError, message: /partition table/ });
  t.throws(() => nvsOf(findFirmware(project), undefined), { message: /--encrypt.*Commission/ });
});

test.serial("doctor --board reports esptool, chip, flash size and a port that is not ours", async (t) => {
  const { bin, port } = rig({});
  const before = process.env.PATH;
  process.env.PATH = [bin, before].join(delimiter);
  t.teardown(() => {
    process.env.PATH = before;
  });
  const levels = (await checkBoard(port)).map(({ level, text }) => `${level} ${text}`);
  t.deepEqual(levels, ["good 5.6.0", `good esp32c3, 4 MB of flash, at ${port}`]);
  t.like((await checkBoard("/nowhere/ttyUSB0"))[1], { level: "bad", text: "/nowhere/ttyUSB0: ENOENT" });
});
