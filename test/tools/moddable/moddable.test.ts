import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { refusePin, refuseRole } from "../../../hosts/esp32/commissioning/pins.js";
import { applicationShare, SMALLEST } from "../../../hosts/esp32/memory-plan.js";
import { BOARDS } from "../../../tools/boards.js";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { CHIPS, chipOf, targetsOf } from "../../../tools/moddable/esp32/chips.js";
import { insecurities, problemsOf } from "../../../tools/moddable/esp32/config-check.js";
import { FLASH_SIZES } from "../../../tools/moddable/esp32/esp32.js";
import { linkedMemory } from "../../../tools/moddable/esp32/linked-memory.js";
import {
  checkPartitions,
  imageRoom,
  readPartitions,
  secureTable,
} from "../../../tools/moddable/esp32/partitions.js";
import {
  checkOptions,
  ignoredOptions,
  protectionOptions,
  readOptions,
} from "../../../tools/moddable/esp32/sdkconfig.js";
import { refusePrivateKeys } from "../../../tools/moddable/private-keys.js";
import { lastLines } from "../../../tools/moddable/program.js";
import { readRom, romBytes } from "../../../tools/moddable/rom.js";
import { findSdk, type Sdk, SdkError } from "../../../tools/moddable/sdk.js";
import { read } from "../../architecture/tree.js";
import { unless } from "../../unless.js";
import { mote } from "../cli/commands.js";
import { scratch, writeProgram } from "../scratch.js";

const _smallest = JSON.parse(read("manifest.json")).creation.static;
const byTarget: Record<string, { creation?: { static: number } }> = JSON.parse(
  read("hosts/esp32/heap/manifest.json"),
).platforms;

test("the engine's block fits the largest free heap block of every chip", (t) => {
  for (const { name, engine, largest, heap } of CHIPS) {
    t.true(engine + 4096 <= largest, name);
    t.true(largest < heap, name);
  }
});

test("a linked image that takes more RAM leaves the application less", (t) => {
  const folder = scratch();
  const chip = CHIPS.find(({ name }) => name === "esp32c3")!;
  const linked = (start: number) => {
    const line = `                0x${start.toString(16)}                        _heap_start = ABSOLUTE (.)\n`;
    writeFileSync(join(folder, "xs_esp32.map"), `${line}                0x00000001  ASSERT (((_heap_start -`);
    return linkedMemory(folder, chip);
  };
  t.is(linkedMemory(folder, chip), undefined, "nothing was linked");
  const { heapStart = 0 } = chip;
  const { engine, system } = SMALLEST;
  t.deepEqual(linked(heapStart), { engine, application: applicationShare(engine) });
  t.is(linked(heapStart + 8192)!.application, applicationShare(engine) - 8192);
  t.is(chip.heap - engine, system);
  t.is(linked(heapStart + 65_536)!.engine, chip.engine, "creation.static is the least");
  t.is(
    linkedMemory(folder, CHIPS.find(({ name }) => name === "esp32c6")!),
    undefined,
    "a chip without figures",
  );
});

const sdk = ((): Sdk | undefined => {
  try {
    return findSdk();
  } catch {
    return undefined;
  }
})();
const withSdk = unless(test, sdk ? undefined : "no Moddable SDK: $MODDABLE");

withSdk("every target of the SDK has the block of its chip", (t) => {
  for (const chip of CHIPS) {
    const targets = targetsOf(sdk!, chip.name);
    t.true(targets.length > 0, chip.name);
    for (const target of targets)
      t.is((byTarget[target] ?? byTarget.esp32)?.creation?.static, chip.engine, target);
  }
});

withSdk("finds the chip of a target by itself, through another, or by default", (t) => {
  t.is(chipOf(sdk!, "esp32").name, "esp32");
  t.is(chipOf(sdk!, "esp32/nodemcu").name, "esp32");
  t.is(chipOf(sdk!, "esp32/moddable_display_2").name, "esp32");
  t.is(chipOf(sdk!, "esp32/xiao_esp32c3").name, "esp32c3");
  t.throws(() => chipOf(sdk!, "esp32/esp32h2"), {
    message: "esp32/esp32h2 has a chip without Wi-Fi (esp32h2).",
  });
  t.throws(() => chipOf(sdk!, "esp8266"), { message: /unknown target esp8266/ });
});

const C3 = 5;
const GOOD = {
  wifi: { ssid: "home", password: "correct horse" },
  baseUrl: "http://platform.test",
  provisioning: { key: "key", secret: "secret" },
};

test("accepts a valid configuration and names each problem of another", (t) => {
  for (const [config, asks, ...expected] of [
    [GOOD, false],
    [{ ...GOOD, commission: { button: 4 } }, true],
    [{ wifi: { ssid: "" }, provisioning: { key: "" } }, true],
    [{ ...GOOD, wifi: { ssid: "home", password: "123" } }, false, /config\.wifi\.password/],
    [{ ...GOOD, wifi: { ssid: "x".repeat(40) } }, false, /config\.wifi\.ssid/],
    [{}, false, /the network, the platform, .* is missing/],
    [{ ...GOOD, rpc: { answerBytes: -1 } }, false, /rpc\.answerBytes/],
    [{ ...GOOD, commission: { button: 12 } }, true, /pin 12 belongs to the flash/],
    [{ ...GOOD, pins: { input: 9, switch: "LED" } }, false],
    [{ ...GOOD, pins: { analog: 99 } }, false, /config\.pins\.analog: pin 99 is not a pin of this chip/],
    [{ ...GOOD, pins: { data: 12 } }, false, /config\.pins\.data: pin 12 belongs to the flash/],
    [{ ...GOOD, pins: { analog: 5 } }, false, /config\.pins\.analog: pin 5 cannot measure .* 0 to 4 can/],
    [{ wifi: { ssid: "" }, firmware: { title: "" } }, true, /firmware\.title/],
  ] as const) {
    const problems = problemsOf(config, C3, asks);
    t.is(problems.length, expected.length, problems.join(" | "));
    for (const one of expected) t.regex(problems[0] ?? "", one);
  }
});

test("refuses an output on a pin of the ESP32 that is only an input", (t) => {
  const problems = (pins: Record<string, number>) => problemsOf({ ...GOOD, pins }, 0, false);
  t.deepEqual(problems({ switch: 34, analog: 34, input: 34 }), ["config.pins.switch: pin 34 has no output"]);
  t.is(problems({ data: 35, clock: 36 }).length, 2);
});

test("no secret is quoted", (t) => {
  const said = problemsOf(
    { ...GOOD, wifi: { ssid: "home", password: "hush" }, token: "to\nken" },
    C3,
    false,
  ).join();
  t.false(/hush|to\nken/.test(said), said);
});

const OURS = read("hosts/esp32/flash/sdkconfig/partitions-4mb.csv");
const FLASH = 4 * 1024 * 1024;
const check = (csv: string, flash = FLASH): string[] => checkPartitions(readPartitions(csv), flash);

for (const [megabytes, room] of [
  [4, 1_900_544],
  [8, 3_145_728],
  [16, 4_194_304],
] as const) {
  test(`the table for ${megabytes} MB is good and fills the flash to the byte`, (t) => {
    const csv = read(`hosts/esp32/flash/sdkconfig/partitions-${megabytes}mb.csv`);
    const bytes = megabytes * 1024 * 1024;
    const [end, last] = [bytes, bytes - 1].map((value) => `0x${value.toString(16)}`);
    t.deepEqual(check(csv, bytes), []);
    t.deepEqual(check(csv, bytes - 1), [`the table ends at ${end}, the flash at ${last}`]);
    t.is(imageRoom(readPartitions(csv)), room);
  });
}

test("the outbox is as large as docs/guides/telemetry.md's table of points held says", (t) => {
  const outbox = readPartitions(OURS).find(({ name }) => name === "outbox");
  t.is(outbox?.size, 256 * 1024);
});

test("a protected partition table keeps the slots and adds keys and boot loader room", (t) => {
  for (const megabytes of [4, 8, 16]) {
    const plain = read(`hosts/esp32/flash/sdkconfig/partitions-${megabytes}mb.csv`);
    const table = secureTable(plain);
    t.deepEqual(check(table, megabytes * 1024 * 1024), []);
    t.regex(table, /^nvs_keys, data, nvs_keys, 0x16000, 0x1000, encrypted$/m);
    t.is(Math.min(...readPartitions(table).map(({ offset }) => offset)), 0x10000);
    const slots = (csv: string) => readPartitions(csv).filter(({ offset }) => offset >= 0x20000);
    t.deepEqual(slots(table), slots(plain));
    t.true(readPartitions(table).some(({ name, size }) => name === "storage" && size >= 0x6000));
  }
});

test("a failed link shows its causes first, and no command line of a linker", (t) => {
  const cause = "main.c: undefined reference to `pump_speed'";
  const rest = Array.from({ length: 30 }, (_, n) => `step ${n}`);
  const lines = lastLines([cause, "ld ".repeat(1000), ...rest].join("\n")).split("\n");
  t.deepEqual(lines, [cause, ...rest.slice(-20)]);
  t.is(lastLines(`step\n${cause}`), `${cause}\nstep`);
});

test("the simulator asks for a display before it builds or starts a platform", async (t) => {
  const [MODDABLE, folder] = [scratch(), join(scratch(), "house")];
  const tools = join(MODDABLE, "build", "bin", "lin", "release");
  mkdirSync(tools, { recursive: true });
  for (const name of ["mcconfig", "mcsim"])
    writeProgram(tools, name, `#!/bin/sh\n: > ${tools}/ran\nexit 1\n`);
  newProject(folder, "minimal");
  const env = { MODDABLE, PATH: scratch(), DISPLAY: "" };
  const { code, out, err } = await mote(["simulator", folder, "--headless"], env);
  t.deepEqual([code, out], [1, ""]);
  t.regex(err, /needs a display: .*xvfb/);
  t.false(existsSync(join(tools, "ran")));
});

const SOURCE = String.raw`
#define mxHeapCount 3
#define mxKeysCount 2
static const txScript gxScripts[mxScriptsCount] = {
	{ xsHostModule0, NULL, 0, NULL, 0, NULL, 0, "Resource", { 1 } },
	{ NULL, NULL, 0, (txS1*)gxCode1, 429, NULL, 0, "left", { 1 } },
};
	{ NULL, {.ID = 14, .flag = 0x87, .kind = XS_KEY_X_KIND}, .value = { .key = { "Array", 0xaa3 } }},
	{ NULL, {.ID = 14, .flag = 0x87, .kind = XS_KEY_X_KIND}, .value = { .key = { (txString)"Array", 0xaa3 } }},
	{ NULL, {.ID = 1, .kind = XS_STRING_X_KIND}, .value = { .string = "a\"b" } },
	{ NULL, {.ID = 1, .kind = XS_CODE_X_KIND}, .value = { .code = { (txByte*)"\x0d\x02a\\", (txSlot*)&gxHeap[1] } } },
	{ 1536, 512, 512, 64, 512, 64, 32, 53, 3, 1024, 17, 112640, 0},
`;

test("reads slots, keys, code and texts from the linker's output", (t) => {
  const rom = readRom(SOURCE);
  t.deepEqual(rom, {
    slots: 3,
    keys: 2,
    code: 4,
    texts: 6 + 6 + 4,
    engine: 112_640,
    begins: 1536 + (512 + 512) * 16,
    unpreloaded: [{ name: "left", bytes: 429 }],
  });
  t.is(romBytes(rom), 3 * 16 + 2 * 4 + 4 + 16 + 429);
});

const OUR_SETTINGS = read("hosts/esp32/flash/sdkconfig/sdkconfig.defaults");

test("names an option of an update that the project lacks or changes", (t) => {
  const before = "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS=y\n# CONFIG_ESP_TASK_WDT_EN is not set\n";
  t.deepEqual(checkOptions(before + OUR_SETTINGS), []);
  t.deepEqual(checkOptions(OUR_SETTINGS + before), [
    "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS is y, not n",
    "CONFIG_ESP_TASK_WDT_EN is n, not y",
  ]);
  // The SDK writes nothing for an option that is off.
  t.deepEqual(checkOptions(OUR_SETTINGS.replace("SKIP_VALIDATE_ALWAYS=n", "SKIP_VALIDATE_ALWAYS=")), []);
});

test("names each setting that ESP-IDF's configuration step did not take", (t) => {
  const ours = [
    "CONFIG_CHOSEN=y",
    "CONFIG_OTHER_OF_CHOICE=n",
    "CONFIG_LEFT_OUT=n",
    "CONFIG_SIZE=4096",
    'CONFIG_KEY="/a b.pem"',
    "CONFIG_GONE=y",
  ].join("\n");
  const taken =
    'CONFIG_CHOSEN=y\n# CONFIG_OTHER_OF_CHOICE is not set\nCONFIG_SIZE=4096\nCONFIG_KEY="/a b.pem"\nCONFIG_GONE=y\n';
  t.deepEqual(ignoredOptions(ours, taken), []);
  const result =
    'CONFIG_CHOSEN=y\nCONFIG_OTHER_OF_CHOICE=y\nCONFIG_SIZE=2048\nCONFIG_KEY="/a b.pem"\nCONFIG_NEW=y\n';
  t.deepEqual(ignoredOptions(ours, result), [
    "CONFIG_OTHER_OF_CHOICE is y, not n",
    "CONFIG_SIZE is 2048, not 4096",
    "CONFIG_GONE is n, not y",
  ]);
});

test("warns of updates over http that nothing signs", (t) => {
  const [line, ...more] = insecurities({ firmware: { allowHttp: true } });
  t.regex(line ?? "", /^config\.firmware\.allowHttp without publicKey: .*mote sign/);
  t.deepEqual(more, []);
  for (const firmware of [{ allowHttp: true, publicKey: "04ab" }, { allowHttp: false }, {}, undefined])
    t.deepEqual(insecurities({ firmware }), []);
});

test("protection is off unless asked for, and each part has ESP-IDF's own options", (t) => {
  t.is(protectionOptions({}, "esp32c3"), "");
  const options = readOptions(protectionOptions({ encrypt: "release", secureBoot: "/k.pem" }, "esp32"));
  t.is(options.get("CONFIG_SECURE_FLASH_ENC_ENABLED"), "y");
  t.is(options.get("CONFIG_SECURE_FLASH_ENCRYPTION_MODE_RELEASE"), "y");
  t.is(options.get("CONFIG_NVS_ENCRYPTION"), "y");
  t.is(options.get("CONFIG_SECURE_BOOT_SIGNING_KEY"), '"/k.pem"');
  t.is(options.get("CONFIG_ESP32_REV_MIN_3"), "y");
  t.is(options.get("CONFIG_PARTITION_TABLE_OFFSET"), "0xf000");
});

const keysFolder = scratch();

const LOCK = { cipher: "aes-256-cbc", passphrase: "secret" };
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1", lock = {}) =>
  key.export({ format: "pem", type, ...lock } as { format: "pem"; type: "pkcs8" });
const der = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1", lock = {}) =>
  key.export({ format: "der", type, ...lock } as { format: "der"; type: "pkcs8" });

const KEYS: Readonly<Record<string, string | Buffer>> = {
  "empty.key": "",
  "store.P12": "",
  "ec.pem": pem(ec.privateKey, "sec1"),
  "rsa.txt": `a comment first\n${pem(rsa.privateKey, "pkcs1")}`,
  "eight.crt": pem(rsa.privateKey, "pkcs8"),
  "locked.pem": pem(ec.privateKey, "pkcs8", LOCK),
  "ec.der": der(ec.privateKey, "sec1"),
  "rsa.der": der(rsa.privateKey, "pkcs1"),
  "with a space.der": der(ec.privateKey, "pkcs8"),
  "locked.bin": der(ec.privateKey, "pkcs8", LOCK),
};

/** What the SDK's makefile says of resources that are these files. */
function makefileOf(
  directory: "DATA" | "RESOURCES",
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const rules = Object.entries(files).map(([name, content]) => {
    const path = join(keysFolder, name);
    writeFileSync(path, content);
    return `$(${directory}_DIR)/${name}: ${path}\n\tcp $< $@\n`;
  });
  const makefile = join(keysFolder, "makefile");
  writeFileSync(makefile, `${rules.join("")}$(RESOURCES_DIR)/locals.mhi: $(HEADERS)\n`);
  return makefile;
}

test.serial("refuses a private key in any form, with its path, as data and resource", (t) => {
  for (const [name, content] of Object.entries(KEYS))
    for (const directory of ["DATA", "RESOURCES"] as const) {
      const makefile = makefileOf(directory, { [name]: content });
      const error = t.throws(() => refusePrivateKeys(makefile), { instanceOf: SdkError }, name);
      t.true(error?.message.includes(join(keysFolder, name)), error?.message);
    }
});

test.serial("accepts certificates, public keys and bytes that begin like a key", (t) => {
  const key = join(keysFolder, "own");
  writeFileSync(key, pem(ec.privateKey, "pkcs8"));
  const words = ["req", "-x509", "-new", "-key", key, "-subj", "/CN=root", "-days", "30"];
  const certificate = execFileSync("openssl", [...words, "-outform", "DER"], { stdio: "pipe" });
  const files = {
    "ca.der": certificate,
    "ca.pem": execFileSync("openssl", words, { stdio: "pipe" }),
    "public.der": ec.publicKey.export({ format: "der", type: "spki" }),
    "zero.bin": Buffer.from([0x30, 0]),
    "keyboard.txt": "PRIVATE KEY",
  };
  t.notThrows(() => refusePrivateKeys(makefileOf("DATA", files)));
});

/** An output and a bus with pull-ups of its own may use these pins: no button may. */
const BUTTONS_ONLY = /how the chip starts|no pull-up/;

test("every known board has a name of its own, a known chip and a partition table", (t) => {
  t.is(new Set(BOARDS.map(({ name }) => name)).size, BOARDS.length);
  for (const { name, chip, flash } of BOARDS) {
    t.regex(name, /^[a-z0-9-]+$/);
    t.true(
      CHIPS.some((known) => known.name === chip),
      name,
    );
    t.true(FLASH_SIZES.includes(flash), name);
  }
});

test("no known board uses a pin of its flash, its USB or its serial line", (t) => {
  for (const { name, chip, pins } of BOARDS) {
    const { id } = CHIPS.find((known) => known.name === chip)!;
    t.is(new Set([pins.data, pins.clock, pins.switch]).size, 3, name);
    t.is(refusePin(id, pins.input, true), undefined, `${name}: input`);
    t.true(pins.input !== pins.switch, name);
    t.true(pins.analog !== pins.switch, `${name}: analog`);
    for (const [use, pin] of Object.entries(pins))
      t.is(refuseRole(id, use, pin), undefined, `${name}: ${use}`);
    for (const [use, pin] of Object.entries(pins)) {
      const why = refusePin(id, pin, true);
      t.true(why === undefined || BUTTONS_ONLY.test(why), `${name}: ${use}, pin ${pin} ${why}`);
    }
  }
});

withSdk("the SDK has the target of every known board, for the same chip", (t) => {
  for (const { name, chip, target, also = [] } of BOARDS)
    for (const one of [target, ...also]) t.is(chipOf(sdk!, one).name, chip, `${name}: ${one}`);
});
