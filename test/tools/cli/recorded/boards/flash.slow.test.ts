// `mote flash` with an esptool that is played: what it says, what it asks of the tool, and its exit codes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { delimiter, join } from "node:path";
import test from "ava";
import { listen } from "../../../../fakes/listen.js";
import {
  type EsptoolScript,
  fakeEsptool,
  ROWS,
  tableOf,
  writeBuild,
  writeWeb,
} from "../../../moddable/board.js";
import { elfHead } from "../../../moddable/toolchain.js";
import { scratch, writeProgram } from "../../../scratch.js";
import { interrupt, killAll } from "../../commands.js";
import { Recording } from "../recording.js";

test.after.always(killAll);

function startRig() {
  const home = scratch();
  const [bin, project, port] = [join(home, "bin"), join(home, "lamp"), join(home, "ttyUSB0")];
  for (const folder of [bin, project]) mkdirSync(folder);
  writeFileSync(port, "");
  writeFileSync(join(home, "table"), tableOf(ROWS));
  writeFileSync(join(home, "other-table"), tableOf(ROWS.slice(0, 4)));
  const build = writeBuild(project, { chip: "esp32c3" });
  const env = { PATH: [bin, process.env.PATH].join(delimiter), IDF_PYTHON_ENV_PATH: "" };
  const recording = new Recording(env);
  recording.mask(home, "/home/owner");
  const play = (played: EsptoolScript): string => fakeEsptool(bin, { table: join(home, "table"), ...played });
  return { home, bin, project, build, port, env, recording, play };
}

test("a board is flashed part by part, or not at all", async (t) => {
  const { home, project, port, recording, play } = startRig();
  const calls = play({});
  const flash = ["flash", project, "--port", port];
  await recording.run([...flash, "--no-log"]);
  const written = readFileSync(calls, "utf8").trim().split("\n").pop() ?? "";
  t.regex(
    written,
    /--chip esp32c3 --port \S+ --baud 460800 write-flash 0x0 \S+bootloader.bin 0x8000 \S+ 0x10000 \S+ 0x20000 /,
  );
  t.notRegex(written, /erase|merged/);
  const { out } = await recording.run([...flash, "--json"]);
  t.like(JSON.parse(out), {
    chip: "esp32c3",
    partitionTable: "same",
    erased: false,
    flashBytes: 4 * 1024 * 1024,
  });
  const refused = async (played: EsptoolScript, ...more: string[]): Promise<void> => {
    const called = play(played);
    await recording.run([...flash, "--no-log", ...more]);
    const asked = readFileSync(called, "utf8");
    t.notRegex(asked, /write-flash/);
    // A board that was looked at goes on with its program.
    t.is(/no-reset flash-id/.test(asked) && !played.fails, /hard-reset read-mac\n$/.test(asked));
  };
  await refused({ chip: "ESP32" });
  await refused({ flash: "2MB" });
  await refused({ version: "4.8.1" });
  await refused({ fails: ["flash-id", "Failed to connect to ESP32-C3: No serial data received."] });
  await refused({ table: join(home, "other-table") });
  await refused({ table: join(home, "other-table") }, "--erase");
  await refused({}, "--target", "esp32/other");
  await refused({}, "--port", join(home, "ttyUSB9"));
  const erasing = play({ table: join(home, "other-table") });
  await recording.run([...flash, "--no-log", "--erase", "--yes"]);
  t.regex(readFileSync(erasing, "utf8"), /write-flash --erase-all 0x0/);
  play({ table: "" });
  await recording.run([...flash, "--no-log"]);
  play({ fails: ["write-flash", "A fatal error occurred: MD5 of file does not match data in flash!"] });
  await recording.run([...flash, "--no-log"]);
  await recording.run(["flash", home]);
  recording.compare(t, "boards/flash");
});

const onLinux = process.platform === "linux" ? test : test.skip;
onLinux("flashes a web folder too, and leaves a port that is in use alone", async (t) => {
  const { home, port, recording, play } = startRig();
  const web = join(home, "page");
  mkdirSync(web);
  writeWeb(web, [{ chip: "esp32" }, { chip: "esp32c3" }]);
  play({});
  await recording.run(["flash", web, "--port", port, "--no-log"]);
  const opened = openSync(port, "r+");
  const monitor = spawn("sleep", ["60"], { stdio: [opened, "ignore", "ignore"] });
  t.teardown(() => monitor.kill());
  await once(monitor, "spawn");
  closeSync(opened);
  // Until it is sleep, and no copy of this process.
  while (readFileSync(`/proc/${monitor.pid}/comm`, "utf8") !== "sleep\n") await new Promise(setImmediate);
  const calls = play({});
  await recording.run(["flash", web, "--port", port, "--no-log"]);
  t.is(readFileSync(calls, "utf8"), "version\n");
  t.is(monitor.exitCode, null);
  recording.compare(t, "boards/flash-web");
});

// As an emulated C3 printed them; the address is of the code that the fake names.
const CRASH =
  "Guru Meditation Error: Core  0 panic'ed (Illegal instruction)\r\n\u001b[0;31mMEPC    : 0x4200b2d4  RA      : 0x4200b2d0\u001b[0m\r\n";

test("shows the board's output after flashing, with decoded crashes, until stopped", async (t) => {
  const { bin, project, build, env, recording, play } = startRig();
  const server = createServer((socket) =>
    socket.write(`info: Wi-Fi: online\r\n${CRASH}waiting for download\r\n`),
  );
  const port = await listen(server, t);
  play({});
  writeFileSync(join(build, "xs_esp32.elf"), elfHead());
  const names = "#!/bin/sh\necho '0x4200b2d4: sample at main.ts:12'\necho '0x4200b2d0: ?? ??:0'\n";
  writeProgram(bin, "riscv32-esp-elf-addr2line", names);
  const args = ["flash", project, "--port", `socket://127.0.0.1:${port}`];
  const result = await interrupt(args, env, ({ out }) => out.includes("RESET"));
  recording.mask(project, "/home/owner/lamp");
  recording.add(`mote ${args.join(" ")}`, result);
  t.true(
    result.out.includes("MEPC    : 0x4200b2d4  RA      : 0x4200b2d0\n  0x4200b2d4  sample at main.ts:12\n"),
  );
  recording.compare(t, "boards/flash-log");
});
