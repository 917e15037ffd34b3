import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { CHIPS, chipOf, targetsOf } from "../../../tools/moddable/esp32/chips.js";
import { problemsOf } from "../../../tools/moddable/esp32/config-check.js";
import { panicComponent } from "../../../tools/moddable/esp32/panic-component.js";
import {
  checkPartitions,
  imageRoom,
  readPartitions,
  secureTable,
} from "../../../tools/moddable/esp32/partitions.js";
import {
  checkOptions,
  flashBytes,
  mergeOptions,
  protectionOptions,
  readOptions,
} from "../../../tools/moddable/esp32/sdkconfig.js";
import { refusePrivateKeys } from "../../../tools/moddable/private-keys.js";
import { codeBytes, readRom, romBytes } from "../../../tools/moddable/rom.js";
import { findSdk, SDK_VERSION, type Sdk, SdkError, sdkDoubt } from "../../../tools/moddable/sdk.js";
import { readLine } from "../../../tools/moddable/simulator/device.js";
import { weigh, weighable, weighModule } from "../../../tools/moddable/weigh.js";
import { PROJECT } from "../../../tools/project.js";
import { read } from "../../architecture/tree.js";

const smallest = JSON.parse(read("manifest.json")).creation.static;
const byTarget: Record<string, { creation?: { static: number } }> = JSON.parse(
  read("hosts/esp32/heap/manifest.json"),
).platforms;

test("the engine's block fits the largest free heap block of every chip", (t) => {
  for (const { name, engine, largest, heap } of CHIPS) {
    t.true(engine + 4096 <= largest, name);
    t.true(largest < heap, name);
  }
});

test("manifest.json uses the smallest block of all chips, for unknown boards", (t) => {
  t.is(smallest, Math.min(...CHIPS.map(({ engine }) => engine)));
});

const sdk = ((): Sdk | undefined => {
  try {
    return findSdk();
  } catch {
    return undefined;
  }
})();
const withSdk = sdk ? test : test.skip;

withSdk("every target of the SDK has the block of its chip", (t) => {
  for (const chip of CHIPS) {
    const targets = targetsOf(sdk!, chip.name);
    t.true(targets.length > 0, chip.name);
    for (const target of targets)
      t.is((byTarget[target] ?? byTarget.esp32)?.creation?.static, chip.engine, target);
  }
});

withSdk("a target says its chip by itself, through another, or has the first of all", (t) => {
  t.is(chipOf(sdk!, "esp32").name, "esp32");
  t.is(chipOf(sdk!, "esp32/nodemcu").name, "esp32");
  t.is(chipOf(sdk!, "esp32/moddable_display_2").name, "esp32");
  t.is(chipOf(sdk!, "esp32/xiao_esp32c3").name, "esp32c3");
  t.throws(() => chipOf(sdk!, "esp32/esp32h2"), {
    message: "esp32/esp32h2 has a chip without Wi-Fi (esp32h2).",
  });
  t.throws(() => chipOf(sdk!, "esp8266"), { message: /esp8266 is no target/ });
});

const C3 = 5;
const GOOD = {
  wifi: { ssid: "home", password: "correct horse" },
  baseUrl: "http://platform.test",
  provisioning: { key: "key", secret: "secret" },
};
const PLAIN = { lean: false, asks: false };

test("accepts a valid configuration, also without values that the owner enters", (t) => {
  t.deepEqual(problemsOf(GOOD, C3, PLAIN), []);
  t.deepEqual(problemsOf({ ...GOOD, commission: { button: 4 } }, C3, { lean: false, asks: true }), []);
  t.deepEqual(problemsOf({}, C3, { lean: false, asks: true }), []);
  t.deepEqual(
    problemsOf({ wifi: { ssid: "" }, provisioning: { key: "" } }, C3, { lean: false, asks: true }),
    [],
  );
});

for (const [what, config, how, expected] of [
  ["a short password", { ...GOOD, wifi: { ssid: "home", password: "123" } }, PLAIN, /config\.wifi\.password/],
  ["a long name of a network", { ...GOOD, wifi: { ssid: "x".repeat(40) } }, PLAIN, /config\.wifi\.ssid/],
  [
    "updates in a lean build",
    { ...GOOD, firmware: { title: "a", version: "1" } },
    { lean: true, asks: false },
    /the lean build has no firmware/,
  ],
  ["no way to the platform", {}, PLAIN, /there is no network, no platform/],
  ["an option that is none", { ...GOOD, rpc: { answerBytes: -1 } }, PLAIN, /rpc\.answerBytes/],
  [
    "a pin of the flash",
    { ...GOOD, commission: { button: 12 } },
    { lean: false, asks: true },
    /pin 12 belongs to the flash/,
  ],
  [
    "one that is left empty beside a wrong one",
    { wifi: { ssid: "" }, firmware: { title: "" } },
    { lean: false, asks: true },
    /firmware\.title/,
  ],
] as const)
  test(`a build names ${what}`, (t) => {
    const problems = problemsOf(config, C3, how);
    t.is(problems.length, 1, problems.join(" | "));
    t.regex(problems[0]!, expected);
  });

test("no secret is quoted", (t) => {
  const said = problemsOf(
    { ...GOOD, wifi: { ssid: "home", password: "hush" }, token: "to\nken" },
    C3,
    PLAIN,
  ).join();
  t.false(/hush|to\nken/.test(said), said);
});

const WITH = "$(TMP_DIR)/log.c.o: /home/me/mote/hosts/esp32/native/log.c $(HEADERS) | $(TMP_DIR)/mc.xs.c\n";
const OTHERS = "$(TMP_DIR)/log.c.o: /home/me/greenhouse/log.c $(HEADERS)\n";

test("wraps ESP-IDF's panic handler only for projects that keep the log", (t) => {
  const place = mkdtempSync(join(tmpdir(), "mote-panic-"));
  t.teardown(() => rmSync(place, { recursive: true }));
  const project = join(place, "xsProj-esp32c3");
  mkdirSync(project);
  const main = join(project, "CMakeLists.txt");
  writeFileSync(main, "");
  const list = join(project, "components", "mote_panic", "CMakeLists.txt");
  /** Whether CMake would look again. */
  const build = (makefile: string): boolean => {
    writeFileSync(join(place, "makefile"), makefile);
    utimesSync(main, 0, 0);
    panicComponent(place, project);
    return statSync(main).mtimeMs > 0;
  };
  t.false(build(OTHERS));
  t.false(existsSync(list));
  t.true(build(WITH));
  t.regex(readFileSync(list, "utf8"), /INTERFACE "-Wl,--wrap=esp_panic_handler"/);
  t.false(build(WITH));
  t.true(build(OTHERS));
  t.false(existsSync(list));
});

const OURS = read("hosts/esp32/flash/sdkconfig/partitions-4mb.csv");
const FLASH = 4 * 1024 * 1024;
const check = (csv: string, flash = FLASH): string[] => checkPartitions(readPartitions(csv), flash);

for (const [megabytes, room] of [
  [4, 1_835_008],
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

test("an offset that is left out follows the row before, apps at 64 KiB", (t) => {
  const csv = "nvs, data, nvs, , 24K\nphy, data, phy, , 0x1000\na, app, ota_0, , 1M\n";
  t.deepEqual(
    readPartitions(csv).map(({ offset, size }) => [offset, size]),
    [
      [0x9000, 0x6000],
      [0xf000, 0x1000],
      [0x10000, 0x100000],
    ],
  );
});

const BROKEN: readonly (readonly [string, string, string, string])[] = [
  [
    "an overlap",
    "0x1e0000",
    "0x1d0000",
    "ota_1: begins at 0x1d0000, before 0x1e0000 where the one before ends",
  ],
  [
    "an app out of line",
    "0x1e0000, 0x1c0000",
    "0x1e1000, 0x1bf000",
    "ota_1: 0x1e1000 is no multiple of 0x10000",
  ],
  ["half a sector", "0x20000,\n", "0x1f800,\n", "storage: a size of 0x1f800 is not of whole sectors"],
  [
    "apps of two sizes",
    "0x1e0000, 0x1c0000",
    "0x1e0000, 0x1b0000",
    "ota_0 and ota_1 differ in size: an image must fit both",
  ],
  ["no outbox", "outbox,", "queue,", "outbox: missing"],
  ["a name twice", "storage,", "nvs,", "nvs: twice"],
  [
    "a name too long",
    "storage,",
    "storage-of-sixteen,",
    "storage-of-sixteen: a name has 15 characters at most",
  ],
  ["OTA data of one sector", "0x2000", "0x1000", "otadata: two sectors, no more and no less"],
];

for (const [what, from, to, problem] of BROKEN) {
  test(`${what} is reported`, (t) => {
    const csv = OURS.replace(from, to);
    t.not(csv, OURS);
    t.true(check(csv).includes(problem), check(csv).join("\n"));
  });
}

test("a row that can't be read is refused", (t) => {
  t.throws(() => readPartitions("nvs, data, nvs, 0x9000, large\n"), { message: /can't be read: nvs/ });
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
  }
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

test("slots, keys, code and texts are read from what the linker wrote", (t) => {
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

test("what the linker did not write is refused", (t) => {
  t.throws(() => readRom("int main;"), { message: /mxHeapCount is missing/ });
});

const atom = (type: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(8 + content.length);
  head.write(type, 4, "latin1");
  return Buffer.concat([head, content]);
};

test("the code of a module is measured without its names", (t) => {
  const xsb = atom("XS_B", Buffer.concat([atom("SYMB", Buffer.alloc(70)), atom("CODE", Buffer.alloc(33))]));
  t.is(codeBytes(xsb), 33);
  t.is(codeBytes(Buffer.from("#!/bin/sh and more")), undefined);
  t.is(codeBytes(atom("XS_B", Buffer.alloc(16))), undefined);
});

const place = mkdtempSync(join(tmpdir(), "mote-sdk-"));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

test("an SDK of another version is doubted, one that git knows nothing of is not", (t) => {
  const path = join(place, "moddable");
  const nobody = ["-c", "user.name=nobody", "-c", "user.email=nobody@localhost"];
  const git = (...words: string[]) =>
    execFileSync("git", ["-C", path, ...nobody, ...words], { stdio: "ignore" });
  mkdirSync(path);
  git("init", "-q");
  const doubt = () => sdkDoubt({ path } as Sdk);
  t.is(doubt(), undefined);
  git("commit", "-q", "--allow-empty", "-m", "none");
  git("tag", "-a", "-m", "none", SDK_VERSION);
  t.is(doubt(), undefined);
  git("commit", "-q", "--allow-empty", "-m", "later");
  t.regex(
    doubt() ?? "",
    new RegExp(`moddable is ${SDK_VERSION}-1-g\\w+, and this was made for ${SDK_VERSION}:`),
  );
});

test("builds a project with the command's own manifests by default", (t) => {
  const tools = join(place, "built", "build", "bin", "lin", "release");
  mkdirSync(tools, { recursive: true });
  for (const name of ["mcconfig", "mcsim"]) writeFileSync(join(tools, name), "");
  const MODDABLE = join(place, "built");
  t.is(findSdk({ MODDABLE }).env.MOTE, PROJECT);
  t.is(findSdk({ MODDABLE, MOTE: "/elsewhere" }).env.MOTE, "/elsewhere");
});

const OUR_SETTINGS = read("hosts/esp32/flash/sdkconfig/sdkconfig.defaults");

test("the project's options are what an update needs", (t) => {
  t.deepEqual(checkOptions(OUR_SETTINGS), []);
});

test("an option that somebody else's took away is reported by name", (t) => {
  const before = "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS=y\n# CONFIG_ESP_TASK_WDT_EN is not set\n";
  t.deepEqual(checkOptions(before + OUR_SETTINGS), []);
  t.deepEqual(checkOptions(OUR_SETTINGS + before), [
    "CONFIG_BOOTLOADER_SKIP_VALIDATE_ALWAYS is y, not n",
    "CONFIG_ESP_TASK_WDT_EN is n, not y",
  ]);
  t.is(checkOptions("").length, 5);
});

test("an option with nothing is off, as the SDK writes it", (t) => {
  t.deepEqual(checkOptions(OUR_SETTINGS.replace("SKIP_VALIDATE_ALWAYS=n", "SKIP_VALIDATE_ALWAYS=")), []);
});

test("a target keeps its own options, but not the size of its flash", (t) => {
  const merged = mergeOptions(
    "CONFIG_ESP_CONSOLE_UART=y\r\nCONFIG_ESPTOOLPY_FLASHSIZE_16MB=y\r\n",
    `${OUR_SETTINGS}CONFIG_ESPTOOLPY_FLASHSIZE_4MB=y\n`,
  );
  t.is(readOptions(merged).get("CONFIG_ESP_CONSOLE_UART"), "y");
  t.is(flashBytes(merged), 4 * 1024 * 1024);
  t.deepEqual(checkOptions(merged), []);
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

const readLines = (text: string): unknown[] => {
  const said: unknown[] = [];
  readLine(
    text,
    (what) => void said.push(what),
    (line) => void said.push(line),
  );
  return said;
};

test("an event is read wherever it begins, and what stands before it is a line", (t) => {
  t.deepEqual(readLines('@event {"event":"online"}'), [{ event: "online" }]);
  t.deepEqual(readLines('write failed@event {"event":"online"}'), ["write failed", { event: "online" }]);
  t.deepEqual(readLines("info: all is well"), ["info: all is well"]);
});

test("what only looks like an event is a line", (t) => {
  for (const text of ["@event ", "@event {", "@event 3", '@event {"event":3}', "info: @event null"])
    t.deepEqual(readLines(text), [text]);
});

// What modules take of ROM, by the SDK that $MODDABLE names.

const weighFolder = mkdtempSync(join(tmpdir(), "mote-weigh-test-"));
test.after.always(() => rmSync(weighFolder, { recursive: true, force: true }));

const module = (name: string, text: string) => {
  const file = join(weighFolder, `${name.replace("/", "-")}.js`);
  writeFileSync(file, text);
  return { name, file };
};

test("what imports the core at the most can be weighed by itself", (t) => {
  const names = weighable();
  for (const name of ["mote", "mote-lean", "mote-report"]) t.true(names.includes(name), name);
  t.false(names.includes("mote-esp32"));
});

if (!process.env.MODDABLE) test.skip("weights (the Moddable SDK is missing: $MODDABLE is not set)", () => {});
else {
  const sdk = findSdk();

  test.serial("a function weighs its code and slots; what is done once weighs nothing", (t) => {
    const once = Array.from({ length: 50 }, (_, at) => `let x${at} = Math.abs(${at}) + 1;`).join("\n");
    const small = weigh(sdk, [module("small", "export const f = (a) => a + 1;")]);
    const same = weigh(sdk, [module("same", `${once}\nexport const f = (a) => a + 1;`)]);
    const more = weigh(sdk, [
      module("more", "export const f = (a) => a + 1; export const g = (a) => f(a) * 2;"),
    ]);
    t.is(same.code, small.code);
    t.true(small.code > 10 && small.code < 40, `${small.code}`);
    t.true(more.code > small.code && more.slots > small.slots);
    t.true(more.rom >= more.code + 16 * more.slots);
  });

  test.serial("a module is weighed beside those that it imports, without them", (t) => {
    const big = module("big", `export const big = () => ${JSON.stringify("x".repeat(5000))};`);
    const other = module("other/one", 'import { big } from "big"; export const two = () => big() + 2;');
    const weight = weigh(sdk, [big, other]);
    t.true(weight.code > 10 && weight.code < 100, `${weight.code}`);
    t.true(weighModule(sdk).rom < 1000);
  });

  test.serial("what the SDK's compiler does not take is reported with its words", (t) => {
    t.throws(() => weigh(sdk, [module("wrong", "const = 1;")]), {
      instanceOf: SdkError,
      message: /^xsc failed:/,
    });
  });
}

const keysFolder = mkdtempSync(join(tmpdir(), "mote-keys-"));
test.after.always(() => rmSync(keysFolder, { recursive: true, force: true }));

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

for (const [name, content] of Object.entries(KEYS)) {
  test.serial(`a private key as ${name} is refused by its path, as data and as a resource`, (t) => {
    for (const directory of ["DATA", "RESOURCES"] as const) {
      const makefile = makefileOf(directory, { [name]: content });
      const error = t.throws(() => refusePrivateKeys(makefile), { instanceOf: SdkError });
      t.true(error?.message.includes(join(keysFolder, name)), error?.message);
    }
  });
}

test.serial("certificates, public keys and other bytes that begin like a key are no private keys", (t) => {
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
