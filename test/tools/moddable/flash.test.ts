// What is flashed, and what is refused before anything is written.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, type Readable } from "node:stream";
import test from "ava";
import { readStoredSettings } from "../../../extras/commissioning/stored-settings.js";
import { AGENT } from "../../../hosts/esp32/store.js";
import { familyOf } from "../../../tools/moddable/esp32/web-install.js";
import { esptoolCommands, isManifest, keepsItsData } from "../../../tools/moddable/esp32/web-manifest.js";
import { readDevices } from "../../../tools/moddable/factory/device-list.js";
import { makeNvs, rowsFor, storesOf } from "../../../tools/moddable/factory/nvs-image.js";
import { checkParts, choose, findFirmware } from "../../../tools/moddable/flash/firmware.js";
import { choosePort, listPorts } from "../../../tools/moddable/flash/ports.js";
import { ReturningPort } from "../../../tools/moddable/flash/returning-port.js";
import { followSerial, Watch } from "../../../tools/moddable/flash/serial-log.js";
import { onPath } from "../../../tools/moddable/program.js";
import { SdkError } from "../../../tools/moddable/sdk.js";
import { fakeHost } from "../../fakes/host.js";
import { scratch } from "../scratch.js";
import { FLASH_BYTES, imageFor, ROWS, writeBuild, writeWeb } from "./board.js";

const home = scratch();

let folders = 0;
function folder(): string {
  const path = join(home, `${folders++}`);
  mkdirSync(path);
  return path;
}

test("build and web folders have the same parts; an emulator build is refused", (t) => {
  const [project, web] = [folder(), folder()];
  const built = writeBuild(project, { chip: "esp32c3" });
  writeBuild(project, { chip: "esp32c3", emulated: true });
  writeWeb(web, [{ chip: "esp32c3" }, { chip: "esp32" }]);
  const [ofBuild, ...none] = findFirmware(project);
  const [ofWeb, classic] = findFirmware(web);
  t.deepEqual(none, []);
  t.like(ofBuild, {
    name: "lamp",
    version: "1.2.0",
    chip: "esp32c3",
    target: "esp32/esp32c3",
    folder: built,
  });
  t.like(ofWeb, { name: "lamp", version: "1.2.0", chip: "esp32c3", folder: undefined });
  const offsets = (parts: readonly { offset: number }[] = []) => parts.map(({ offset }) => offset);
  t.deepEqual(offsets(ofBuild?.parts), [0, 0x8000, 0x10000, 0x20000]);
  t.deepEqual(offsets(ofWeb?.parts), offsets(ofBuild?.parts));
  t.deepEqual(offsets(classic?.parts), [0x1000, 0x8000, 0x10000, 0x20000]);
  for (const one of [ofBuild, ofWeb])
    t.deepEqual(checkParts(one!, FLASH_BYTES), { bytes: 4096 * 2 + 0xc00 + 0x2000 });
});

test("refuses a manifest with files outside its folder or invalid offsets", (t) => {
  const web = folder();
  for (const part of [
    { path: "../secret.bin", offset: 0 },
    { path: "/etc/passwd", offset: 0 },
    { path: "a.bin", offset: -1 },
    null,
  ]) {
    const builds = [{ chipFamily: "ESP32-C3", parts: [part] }];
    writeFileSync(join(web, "manifest.json"), JSON.stringify({ name: "a", version: "1", builds }));
    t.throws(() => findFirmware(web), { instanceOf: SdkError, message: /outside this folder/ });
  }
});

test("the board's chip chooses the build, and --target among several", (t) => {
  const project = folder();
  writeBuild(project, { chip: "esp32c3" });
  const one = findFirmware(project);
  t.is(choose(one, "esp32c3", undefined).chip, "esp32c3");
  t.throws(() => choose(one, "esp32", undefined), {
    message: /is an esp32, .*builds for esp32\/esp32c3: nothing was/,
  });
  t.throws(() => choose(one, "esp32c3", "esp32/x"), {
    message: /no build for target esp32\/x \(found: esp32\/esp32c3\)/,
  });
  writeBuild(project, { chip: "esp32c3" }, "esp32/c3_devkit_rust");
  const two = findFirmware(project);
  t.throws(() => choose(two, "esp32c3", undefined), { message: /several.*--target/s });
  t.is(choose(two, "esp32c3", "esp32/c3_devkit_rust").target, "esp32/c3_devkit_rust");
});

test("refuses a wrong chip, a missing part and a small flash by file content", (t) => {
  const wrong = (
    built: Parameters<typeof writeBuild>[1],
    flash: number | undefined,
    message: RegExp,
  ): void => {
    const project = folder();
    writeBuild(project, built);
    t.throws(() => checkParts(findFirmware(project)[0]!, flash), { instanceOf: SdkError, message });
  };
  wrong({ chip: "esp32c3", application: imageFor("esp32c6") }, FLASH_BYTES, /for an esp32c6.*an esp32c3/);
  wrong({ chip: "esp32c3", megabytes: 8 }, FLASH_BYTES, /needs 8 MB of flash, the board has 4 MB/);
  wrong(
    { chip: "esp32c3", rows: [...ROWS, ["more", 1, 2, 0x400000, 0x1000]] },
    FLASH_BYTES,
    /5 MB of flash, the board has 4/,
  );
  const project = folder();
  const built = writeBuild(project, { chip: "esp32c3", megabytes: 8 });
  t.notThrows(() => checkParts(findFirmware(project)[0]!, undefined));
  rmSync(join(built, "xs_esp32.bin"));
  t.deepEqual(t.throws(() => findFirmware(project))?.name, "SdkError");
  writeBuild(project, { chip: "esp32c3" });
  const program = findFirmware(project)[0]!;
  const parts = program.parts.map((part) => (part.offset === 0x8000 ? { ...part, offset: 0x800 } : part));
  t.throws(() => checkParts({ ...program, parts }, FLASH_BYTES), { message: /overlaps another part/ });
});

// Which port, and whether it is ours to use.

const dev = scratch();
for (const name of ["ttyUSB0", "ttyACM1", "ttyS0", "cu.usbserial-1", "cu.Bluetooth"])
  writeFileSync(join(dev, name), "");
mkdirSync(join(dev, "serial", "by-id"), { recursive: true });
symlinkSync("../../ttyUSB0", join(dev, "serial", "by-id", "usb-Silicon_Labs_CP2102_0001-if00-port0"));

test("finds the ports of boards, with the device name if the system has it", (t) => {
  t.deepEqual(listPorts("linux", dev), [
    { path: join(dev, "ttyACM1") },
    { path: join(dev, "ttyUSB0"), title: "Silicon Labs CP2102 0001" },
  ]);
  t.deepEqual(listPorts("darwin", dev), [{ path: join(dev, "cu.usbserial-1") }]);
  t.is(listPorts("win32", dev), undefined);
});

test("takes the only port; with several or none it says what to do", (t) => {
  t.is(choosePort(undefined, [{ path: "/dev/a" }]), "/dev/a");
  t.is(choosePort("/dev/b", []), "/dev/b");
  t.throws(() => choosePort(undefined, [{ path: "/dev/a", title: "CP2102" }, { path: "/dev/b" }]), {
    instanceOf: SdkError,
    message: "found several ports, choose one with --port:\n  /dev/a  CP2102\n  /dev/b",
  });
  t.throws(() => choosePort(undefined, []), { message: /data lines.*BOOT/ });
  t.throws(() => choosePort(undefined, undefined), { message: /--port/ });
});

// What a board prints, and what it means: of a port that is played, and of a terminal that is one.

function watched() {
  const lines: string[] = [];
  const notes: string[] = [];
  return {
    lines,
    notes,
    line: (text: string) => lines.push(text),
    note: (text: string) => notes.push(text),
  };
}

// As the ROM of a C3 prints it.
const DOWNLOAD = "rst:0x1 (POWERON),boot:0x2 (DOWNLOAD(USB/UART0/1))\r\nwaiting for download\r\n";
const START = "rst:0x1 (POWERON),boot:0x8 (SPI_FAST_FLASH_BOOT)\r\nSPIWP:0xee\r\n";

test("reports a board in download mode, once each time", (t) => {
  const log = watched();
  const watch = new Watch(log);
  watch.take(DOWNLOAD);
  watch.take(DOWNLOAD);
  t.is(log.notes.length, 1);
  t.regex(log.notes[0]!, /BOOT and press RESET/);
  watch.take(START);
  t.is(log.notes.length, 1);
  watch.take(DOWNLOAD);
  t.is(log.notes.length, 2);
});

/** Time that passes when a test says so. */
function played(ports: (Readable | undefined)[]) {
  const timers = new Set<{ ms: number; then: () => void }>();
  const log = watched();
  const stop = new AbortController();
  const timer = (ms: number, then: () => void) => {
    const one = { ms, then };
    timers.add(one);
    return () => void timers.delete(one);
  };
  const pass = async (ms: number): Promise<void> => {
    for (const one of [...timers])
      if (one.ms <= ms) {
        timers.delete(one);
        one.then();
      }
    await new Promise((go) => setImmediate(go));
  };
  const port = { path: "/dev/x" };
  const system = { list: () => [{ ...port }], exists: (path: string) => path === port.path };
  const cable = new ReturningPort(port.path, () => {}, { ...system, pause: async () => {} });
  const over = followSerial({ ...log, cable, stop: stop.signal, open: () => ports.shift(), timer });
  return { log, stop, pass, over, timers, port };
}

test("waits for a port that returns under another name, and goes on", async (t) => {
  const [first, second] = [new PassThrough(), new PassThrough()];
  const { log, stop, pass, over, timers, port } = played([first, undefined, undefined, second]);
  first.write("one\r\nhal");
  await pass(0);
  first.end();
  port.path = "/dev/y";
  for (let n = 0; n < 6; n++) await pass(250);
  second.write("two\r\n");
  await pass(0);
  t.deepEqual(log.lines, ["one", "hal", "two"]);
  t.is(log.notes.length, 2);
  t.regex(log.notes[0]!, /went away.*plug the board in again/);
  t.regex(log.notes[1]!, /\/dev\/y/);
  stop.abort();
  await over;
  t.is(timers.size, 0);
});

const HAS_TERMINALS =
  process.platform === "linux" && ["script", "stty"].every((name) => onPath(name, process.env));
(HAS_TERMINALS ? test : test.skip)("sets up, reads and releases a serial port", async (t) => {
  // What is written to its other side is what a board would send.
  const terminal = spawn("script", ["-qfc", "tty; sleep 60", "/dev/null"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  t.teardown(() => terminal.kill());
  const [name] = await once(terminal.stdout.setEncoding("utf8"), "data");
  const stop = new AbortController();
  const log = watched();
  const line = (text: string): void => {
    log.line(text);
    stop.abort();
  };
  const cable = new ReturningPort(String(name).trim(), () => {});
  const over = followSerial({ ...log, cable, line, stop: stop.signal });
  terminal.stdin.write("caf\u00e9 \u001b[32mI (24) boot\r\n");
  await over;
  t.deepEqual(log.lines, ["caf\u00e9 \u001b[32mI (24) boot"]);
  t.deepEqual(log.notes, []);
});

// A list of devices is taken whole, or refused with all that is wrong; what it holds is never shown.

const HEAD = "name,label,url,token,key,secret,ssid,password";

test("takes columns in any order, and leaves empty values to the owner", (t) => {
  t.deepEqual(readDevices('\ufefflabel,name\r\n"with ""quotes"", and more",lamp-1\r\n,lamp-2\r\n\r\n'), [
    { name: "lamp-1", label: 'with "quotes", and more', values: {} },
    { name: "lamp-2", label: undefined, values: {} },
  ]);
  const [device] = readDevices(`${HEAD}\nlamp-1,,https://p.example.com,TOKEN,,,home,"long, password"`);
  t.like(device?.values, { token: "TOKEN", ssid: "home", password: "long, password", key: undefined });
});

const SECRET = "hidden-3141";

test("reports mistakes of a list by row and column, without values", (t) => {
  const wrong = (text: string, ...said: RegExp[]): void => {
    const error = t.throws(() => readDevices(text), { instanceOf: SdkError }, text.slice(0, 60));
    for (const one of said) t.regex(error?.message ?? "", one);
    t.notRegex(error?.message ?? "", /hidden/);
  };
  wrong("", /lacks the column "name"/);
  wrong(`name,${SECRET}\nlamp-1,x`, /unknown columns/);
  wrong("name,name\na,b", /twice/);
  wrong(`name,token\nlamp-1,${SECRET}`, /row 2: token: requires url/);
  wrong(`name,label\nlamp-1,short`, /row 2: label: a password has 8 to 63/);
  wrong(`name,label\nlamp-1,${SECRET}\u0000x`, /row 2: label/);
  for (const name of ["../x", "", ".hidden", "a b", "x".repeat(64), "=cmd()", "-rf", "ü"])
    wrong(`name,label\n${name},12345678`, /row 2: name/);
  wrong(`name,key\nlamp-1,${SECRET}`, /row 2: secret: the provisioning secret is missing/);
  wrong(`name,password\nlamp-1,${SECRET}`, /row 2: ssid/);
  wrong(`name,url,token\nlamp-1,https://a.test,a/${SECRET}`, /row 2: token/);
  wrong("name\nlamp-1\nLAMP-1", /row 3: another row has the same name/);
  wrong(
    `${HEAD}\na,,http://a,${SECRET},,,,\nb,,http://a,${SECRET},,,,`,
    /row 3: another row has the same token/,
  );
  wrong(`name\nlamp-1,${SECRET}`, /row 2: more fields/);
  wrong(`name\n${"a b\n".repeat(100)}`, /and 179 more$/);
  wrong(`name\n${Array.from({ length: 10_001 }, (_, n) => `lamp-${n}`).join("\n")}`, /at most 10000/);
});

// What a factory writes is what a device reads. test/chip/cases/factory.ts uses ESP-IDF's own tool.

const VALUES = { url: "https://p.example.com", token: "T-3141", ssid: "home", password: "correct horse" };
const LAMP = { name: "lamp-1", label: "on its label", values: VALUES };

test("the device's own code reads the settings of the image", (t) => {
  const host = fakeHost();
  for (const [key, value] of storesOf(LAMP).get(AGENT) ?? []) host.store.set(key, value);
  t.like(readStoredSettings(host), VALUES);
  t.deepEqual([...host.store.values.keys()].sort(), [
    "site",
    "site-old",
    "token",
    "token-old",
    "wifi",
    "wifi-old",
  ]);
});

test("a value of a device cannot become a row of its own", (t) => {
  const hostile = {
    ...LAMP,
    label: 'x",y\ntoken,data,string,evil',
    values: { ...VALUES, password: "\r\n#,=1+1" },
  };
  for (const line of rowsFor(hostile).trim().split("\n"))
    t.regex(line, /^[\w-]+,(?:type,encoding,value|namespace,,|data,base64,[\w+/=]+)$/);
});

test("reports a tool that fails, without the values it was given", async (t) => {
  const error = await t.throwsAsync(makeNvs(["false"], LAMP, 0x6000), { instanceOf: SdkError });
  t.regex(error?.message ?? "", /nvs_partition_gen failed for lamp-1/);
  t.notRegex(error?.message ?? "", /T-3141|correct/);
});

test("a web folder has each part at its offset, chips of one version, and esptool's commands", (t) => {
  const web = folder();
  t.deepEqual(writeWeb(web, [{ chip: "esp32c3" }]), { chips: ["ESP32-C3"], erased: [] });
  const manifest = () => JSON.parse(readFileSync(join(web, "manifest.json"), "utf8"));
  const [build] = manifest().builds;
  t.regex(build?.partition_table ?? "", /^[0-9a-f]{16}$/);
  // Parts of their own, so that what a device stored stays.
  t.like(build, {
    chipFamily: "ESP32-C3",
    parts: [
      { path: "esp32c3/bootloader.bin", offset: 0 },
      { path: "esp32c3/partition-table.bin", offset: 0x8000 },
      { path: "esp32c3/ota_data_initial.bin", offset: 0x10000 },
      { path: "esp32c3/xs_esp32.bin", offset: 0x20000 },
    ],
  });
  t.deepEqual(readFileSync(join(web, "esp32c3/xs_esp32.bin")), imageFor("esp32c3"));
  for (let n = 0; n < 2; n++) t.deepEqual(writeWeb(web, [{ chip: "esp32" }]).chips, ["ESP32-C3", "ESP32"]);
  const both: unknown = manifest();
  t.is(
    isManifest(both) && esptoolCommands(both)[1],
    "esptool --chip esp32 write-flash 0x1000 esp32/bootloader.bin 0x8000 esp32/partition-table.bin 0x10000 esp32/ota_data_initial.bin 0x20000 esp32/xs_esp32.bin",
  );
  t.deepEqual(writeWeb(web, [{ chip: "esp32s3" }], "1.3.0").chips, ["ESP32-S3"]);
  for (const none of [undefined, null, {}, { name: "a", version: "1", builds: [] }])
    t.false(isManifest(none));
});

test("erases a board only if its version had another partition table", (t) => {
  const web = folder();
  const tables = { one: ROWS, two: ROWS.slice(0, 4), three: ROWS.slice(0, 3) };
  const write = (chip: string, version: string, table: keyof typeof tables) => {
    const { erased } = writeWeb(web, [{ chip, rows: tables[table] }], version);
    const manifest = JSON.parse(readFileSync(join(web, "manifest.json"), "utf8"));
    const keeps = (older: string, family = "ESP32-C3", firmware = "lamp"): boolean =>
      keepsItsData(manifest, { firmware, version: older, chipFamily: family });
    return { erased, keeps, asks: manifest.new_install_prompt_erase };
  };
  write("esp32c3", "1.0.0", "one");
  write("esp32s3", "1.0.0", "one");
  const same = write("esp32c3", "1.1.0", "one");
  t.like(same, { erased: [], asks: true });
  t.true(same.keeps("1.0.0"));
  t.false(same.keeps("1.0.0", "ESP32-C3", "another"));
  const moved = write("esp32c3", "1.2.0", "two");
  t.like(moved, { erased: ["1.0.0", "1.1.0"], asks: false });
  t.deepEqual(
    ["1.0.0", "1.1.0", "1.2.0", "0.9.0"].map((version) => moved.keeps(version)),
    [false, false, true, true],
  );
  const later = write("esp32c3", "1.3.0", "two");
  t.deepEqual(
    ["1.1.0", "1.2.0"].map((version) => later.keeps(version)),
    [false, true],
  );
  // The other chip was left out since 1.0.0.
  const other = write("esp32s3", "1.3.0", "two");
  t.deepEqual(
    ["1.0.0", "1.1.0"].map((version) => other.keeps(version, "ESP32-S3")),
    [false, true],
  );
  t.false(write("esp32c3", "1.3.0", "three").keeps("1.3.0"));
  t.true(write("esp32c3", "1.4.0", "one").keeps("1.1.0"));
});

test("leaves a foreign manifest alone", (t) => {
  const web = folder();
  for (const text of ['{"include":[]}', "{", "null"]) {
    writeFileSync(join(web, "manifest.json"), text);
    t.throws(() => writeWeb(web, [{ chip: "esp32c3" }]), { instanceOf: SdkError });
    t.is(readFileSync(join(web, "manifest.json"), "utf8"), text);
  }
  t.throws(() => familyOf("esp8266"), { instanceOf: SdkError });
});
