// `mote flash` at a port that goes away, comes back, or stays away, with a fake esptool and fake
// ports.
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import test from "ava";
import { findEsptool } from "../../../tools/moddable/flash/esptool.js";
import { findFirmware, nvsOf } from "../../../tools/moddable/flash/firmware.js";
import { flashBoard } from "../../../tools/moddable/flash/flash-board.js";
import type { Port } from "../../../tools/moddable/flash/ports.js";
import { type PortSystem, ReturningPort } from "../../../tools/moddable/flash/returning-port.js";
import { SdkError } from "../../../tools/moddable/sdk.js";
import { scratch } from "../scratch.js";
import { type EsptoolScript, fakeEsptool, ROWS, tableOf, writeBuild } from "./board.js";

interface RigOptions {
  /** Of ports, by their names. */
  readonly titles?: Record<string, string>;
  /** Called with each pause so far: none is waited for. */
  readonly paused?: (dev: string) => void;
  /** What lies on the board. */
  readonly table?: Buffer;
  /** Where the build has its partition table. */
  readonly offset?: string;
}

/** Ports are files of a folder. */
async function rig(
  played: (dev: string) => EsptoolScript,
  { titles = {}, paused = () => {}, table = tableOf(ROWS), offset = "0x8000" }: RigOptions = {},
) {
  const home = scratch();
  const [bin, project, dev] = [join(home, "bin"), join(home, "project"), join(home, "dev")];
  for (const folder of [bin, project, dev]) mkdirSync(folder);
  const args = join(writeBuild(project, { chip: "esp32c3" }), "flash_args");
  writeFileSync(args, readFileSync(args, "utf8").replace("0x8000 ", `${offset} `));
  writeFileSync(join(home, "table"), table);
  const port = join(dev, "ttyACM0");
  writeFileSync(port, "");
  const calls = fakeEsptool(bin, { table: join(home, "table"), ...played(dev) });
  const lines: string[] = [];
  let waitedMs = 0;
  const system: PortSystem = {
    list: () =>
      ["ttyACM0", "ttyACM1", "ttyACM2"]
        .map((name): Port => ({ path: join(dev, name), ...(titles[name] && { title: titles[name] }) }))
        .filter(({ path }) => existsSync(path)),
    exists: existsSync,
    pause: async (ms) => {
      waitedMs += ms;
      paused(dev);
    },
  };
  const esptool = await findEsptool({ PATH: [bin, process.env.PATH].join(delimiter) });
  const say = (line: string): void => void lines.push(line.replaceAll(dev, "/dev"));
  const asked: string[] = [];
  const confirm = async (question: string): Promise<void> => void asked.push(question);
  const flash = (lateMs?: number, erase = false) =>
    flashBoard(esptool, findFirmware(project), {
      cable: new ReturningPort(port, say, system),
      ...(lateMs !== undefined && { lateMs }),
      ...{ baud: 115_200, erase, aside: true, say, confirm },
    });
  const writing = () =>
    /--port (\S+) .*write-flash/.exec(readFileSync(calls, "utf8"))?.[1]?.replace(dev, "/dev");
  return { flash, lines, asked, writing, dev, project, waited: () => waitedMs };
}

for (const at of ["flash-id", "read-flash"])
  test(`a port that goes away at ${at} and comes back is waited for`, async (t) => {
    const { flash, lines, writing } = await rig(() => ({ goes: { at } }), {
      paused: (dev) => writeFileSync(join(dev, "ttyACM0"), ""),
    });
    await flash();
    t.is(writing(), "/dev/ttyACM0");
    // It was back before it was looked for.
    t.false(lines.some((line) => line.includes("went away")));
  });

test("finds and writes a board whose port comes back under another name", async (t) => {
  const { flash, lines, writing } = await rig((dev) => ({
    goes: { at: "read-flash", to: join(dev, "ttyACM1") },
  }));
  const { cable } = await flash();
  t.is(writing(), "/dev/ttyACM1");
  t.regex(cable.path, /ttyACM1$/);
  t.deepEqual(
    lines.filter((line) => line.startsWith("port")),
    [
      "port      /dev/ttyACM0 went away: a chip with USB of its own takes it along at a reset. Waiting",
      "port      it is back, as /dev/ttyACM1",
    ],
  );
});

test("another board at the new port gets nothing", async (t) => {
  const { flash, writing } = await rig((dev) => ({
    goes: { at: "read-flash", to: join(dev, "ttyACM1"), mac: "c4:0a:24:fe:10:99" },
  }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /a different board: its MAC is c4:0a:24:fe:10:99.*Nothing was written/);
  t.is(writing(), undefined);
});

test("gives advice after ten seconds if the port stays away", async (t) => {
  const { flash, writing, waited } = await rig(() => ({ goes: { at: "flash-id" } }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /did not come back in 10 s\. Plug the board in again, or hold BOOT, press RESET/);
  t.is(writing(), undefined);
  t.true(waited() > 10_000 && waited() < 12_000, `${waited()} ms`);
});

test("gives advice while a board does not answer, and flashes it once it does", async (t) => {
  const { flash, lines, writing } = await rig(() => ({}));
  await flash();
  t.false(lines.some((line) => line.includes("no answer")));
  await flash(0);
  t.regex(lines.join("\n"), /no answer from \/dev\/ttyACM0 yet\. .*hold it, press RESET/);
  t.is(writing(), "/dev/ttyACM0");
});

// A board whose flash may be encrypted: plain text written there does not start.

test("refuses an unreadable partition table, and erases such a board only after it asked", async (t) => {
  const { flash, asked, writing } = await rig(() => ({}), { table: randomBytes(0xc00) });
  await t.throwsAsync(flash(), {
    instanceOf: SdkError,
    message: /encrypted.*Nothing was written.*over the air/,
  });
  t.is(writing(), undefined);
  t.is((await flash(undefined, true)).table, "unknown");
  t.regex(asked.join(), /If its flash is encrypted, it does not start afterwards/);
});

test("takes a protected build's moved table for another table, and makes no NVS for it", async (t) => {
  const { flash, project } = await rig(() => ({}), { offset: "0xf000" });
  await t.throwsAsync(flash(), { instanceOf: SdkError, message: /the table itself: 0x8000 -> 0xf000/ });
  t.throws(() => nvsOf(findFirmware(project), undefined), {
    instanceOf: SdkError,
    message: /--encrypt.*Commission/,
  });
});

test("reports a port that goes away during the write", async (t) => {
  const { flash } = await rig(() => ({ goes: { at: "write-flash" } }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /may be incomplete\. \S+ went away meanwhile: hold BOOT, press RESET/);
});
