// `mote flash` at a port that goes away, comes back, or stays away: esptool and the ports of the machine are played.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { findEsptool } from "../../../../tools/moddable/flash/esptool.js";
import { findFirmware } from "../../../../tools/moddable/flash/firmware.js";
import { flashBoard } from "../../../../tools/moddable/flash/flash-board.js";
import type { Port } from "../../../../tools/moddable/flash/ports.js";
import { type PortSystem, ReturningPort } from "../../../../tools/moddable/flash/returning-port.js";
import { fakeEsptool, type Played, ROWS, tableOf, writeWeb } from "./board.js";

/** Ports are files of a folder; `titles` by their names. `paused` is called with the ms of each pause so far: none is waited for. */
async function rig(
  t: ExecutionContext,
  played: (dev: string) => Played,
  {
    titles = {},
    paused = () => {},
  }: { titles?: Record<string, string>; paused?: (dev: string) => void } = {},
) {
  const home = mkdtempSync(join(tmpdir(), "mote-port-"));
  t.teardown(() => rmSync(home, { recursive: true, force: true }));
  const [bin, page, dev] = [join(home, "bin"), join(home, "page"), join(home, "dev")];
  for (const folder of [bin, page, dev]) mkdirSync(folder);
  writeWeb(page, [{ chip: "esp32c3" }]);
  writeFileSync(join(home, "table"), tableOf(ROWS));
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
  const flash = (lateMs?: number) =>
    flashBoard(esptool, findFirmware(page), {
      cable: new ReturningPort(port, say, system),
      ...(lateMs !== undefined && { lateMs }),
      ...{ baud: 115_200, erase: false, aside: true, say, confirm: async () => {} },
    });
  const writing = () =>
    /--port (\S+) .*write-flash/.exec(readFileSync(calls, "utf8"))?.[1]?.replace(dev, "/dev");
  return { flash, lines, writing, dev, waited: () => waitedMs };
}

for (const at of ["flash-id", "read-flash"])
  test(`a port that goes away at ${at} and comes back is waited for`, async (t) => {
    const { flash, lines, writing } = await rig(t, () => ({ goes: { at } }), {
      paused: (dev) => writeFileSync(join(dev, "ttyACM0"), ""),
    });
    await flash();
    t.is(writing(), "/dev/ttyACM0");
    // It was back before it was looked for.
    t.false(lines.some((line) => line.includes("went away")));
  });

test("one that comes back by another name is found, said, and written there", async (t) => {
  const { flash, lines, writing } = await rig(t, (dev) => ({
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

test("of two new ports the one that has the board's own name is taken", async (t) => {
  const titles = { ttyACM0: "Espressif C4:0A", ttyACM1: "Espressif FF:FF", ttyACM2: "Espressif C4:0A" };
  const { flash, writing } = await rig(t, (dev) => ({ goes: { at: "flash-id", to: join(dev, "ttyACM2") } }), {
    titles,
    paused: (dev) => writeFileSync(join(dev, "ttyACM1"), ""),
  });
  await flash();
  t.is(writing(), "/dev/ttyACM2");
});

test("another board at the new port gets nothing", async (t) => {
  const { flash, writing } = await rig(t, (dev) => ({
    goes: { at: "read-flash", to: join(dev, "ttyACM1"), mac: "c4:0a:24:fe:10:99" },
  }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /another one, with MAC c4:0a:24:fe:10:99.*nothing was written/);
  t.is(writing(), undefined);
});

test("one that stays away is said with the way on after ten seconds", async (t) => {
  const { flash, writing, waited } = await rig(t, () => ({ goes: { at: "flash-id" } }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /did not come back in 10 s\. Plug the board in again, or hold BOOT, press RESET/);
  t.is(writing(), undefined);
  t.true(waited() > 10_000 && waited() < 12_000, `${waited()} ms`);
});

test("one that goes away while it is written is said too", async (t) => {
  const { flash } = await rig(t, () => ({ goes: { at: "write-flash" } }));
  const error = await t.throwsAsync(flash());
  t.regex(error.message, /may not be whole\. \S+ went away meanwhile: hold BOOT, press RESET/);
});

test("a board that answers late is said with the way on, and flashed once it does", async (t) => {
  const { flash, lines, writing } = await rig(t, () => ({}));
  await flash();
  t.false(lines.some((line) => line.includes("no answer")));
  await flash(0);
  t.regex(lines.join("\n"), /no answer from \/dev\/ttyACM0 yet\. .*hold it, press RESET/);
  t.is(writing(), "/dev/ttyACM0");
});
