// What is flashed, and what is refused before anything is written.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { readStoredSettings } from "../../../extras/commissioning/stored-settings.js";
import { AGENT } from "../../../hosts/esp32/store.js";
import { makeBuildFolder } from "../../../tools/moddable/build-folder.js";
import { readDevices } from "../../../tools/moddable/factory/device-list.js";
import { rowsFor, storesOf } from "../../../tools/moddable/factory/nvs-image.js";
import { checkParts, choose, findFirmware } from "../../../tools/moddable/flash/firmware.js";
import { familyOf, writeWebPage } from "../../../tools/moddable/flash/web-page.js";
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
  const inWeb = findFirmware(web);
  const [ofWeb, classic] = ["esp32c3", "esp32"].map((chip) => inWeb.find((one) => one.chip === chip));
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

test("only this user can open the folder of a build, which holds the manifest's secrets", (t) => {
  const out = join(folder(), "build", "simulator");
  for (const path of [out, out]) {
    makeBuildFolder(path);
    t.is(statSync(path).mode & 0o777, 0o700);
    chmodSync(path, 0o755);
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

// A list of devices is taken whole, or refused with all that is wrong; what it holds is never
// shown.

const HEAD = "name,label,url,token,key,secret,ssid,password";

test("takes columns in any order, and leaves empty values to the owner", (t) => {
  t.deepEqual(readDevices('\ufefflabel,name\r\n"with ""quotes"", and more",lamp-1\r\n,lamp-2\r\n\r\n'), [
    { name: "lamp-1", label: 'with "quotes", and more', values: {} },
    { name: "lamp-2", label: undefined, values: {} },
  ]);
  const [device] = readDevices(`${HEAD}\nlamp-1,,https://p.example.com,TOKEN,,,home,"long, password"`);
  t.like(device?.values, { token: "TOKEN", ssid: "home", password: "long, password", key: undefined });
});

test("blanks around a cell are not part of it, and none may surround a Wi-Fi's name or password", (t) => {
  const { values, name } = readDevices("name , token, url\nlamp-1 , TOKEN , https://p.example.com\n")[0]!;
  t.like({ name, ...values }, { name: "lamp-1", token: "TOKEN", url: "https://p.example.com" });
  for (const [column, row] of [
    ["ssid", "lamp-1, net, 12345678, 12345678"],
    ["ssid", 'lamp-1,"net ",12345678,12345678'],
    ["password", "lamp-1,net, 12345678,12345678"],
    ["label", "lamp-1,net,12345678, 12345678"],
  ] as const)
    t.throws(() => readDevices(`name, ssid, password, label\n${row}\n`), {
      message: new RegExp(`row 2: ${column}: remove the blank`),
    });
  for (const [password, isGood] of [
    ["g".repeat(64), false],
    ["0aF9".repeat(16), true],
  ] as const) {
    const read = () => readDevices(`name,ssid,password\nlamp-1,net,${password}\n`);
    if (isGood) t.is(read()[0]?.values.password, password);
    else t.throws(read, { message: /row 2: password: .*64 hexadecimal digits/ });
  }
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
  wrong(`name,label\nlamp-1,short`, /row 2: label: the password .* must have 8 to 63 bytes/);
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
    "platform",
    "platform-old",
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

test("a web folder has each part at its offset, and a page that loads nothing from elsewhere", (t) => {
  const web = folder();
  writeWeb(web, [{ chip: "esp32c3" }, { chip: "esp32" }]);
  const manifest = JSON.parse(readFileSync(join(web, "manifest.json"), "utf8"));
  // Parts of their own, so that what a device stored stays.
  t.like(
    manifest.builds.find(({ chipFamily }: { chipFamily: string }) => chipFamily === "ESP32-C3"),
    {
      parts: [
        { path: "esp32c3/bootloader.bin", offset: 0 },
        { path: "esp32c3/partition-table.bin", offset: 0x8000 },
        { path: "esp32c3/ota_data_initial.bin", offset: 0x10000 },
        { path: "esp32c3/xs_esp32.bin", offset: 0x20000 },
      ],
    },
  );
  t.deepEqual(readFileSync(join(web, "esp32c3/xs_esp32.bin")), imageFor("esp32c3"));
  const page = readFileSync(join(web, "index.html"), "utf8");
  t.regex(page, /Flash lamp 1\.2\.0[\s\S]*<esp-web-install-button manifest="manifest.json">/);
  t.notRegex(page, /(?:src|href)="https?:/);
  t.true(existsSync(join(web, "esp-web-tools/install-button.js")));
  t.throws(() => familyOf("esp8266"), { instanceOf: SdkError });
  const program = { ...findFirmware(web)[0]!, chip: "../../beside" };
  t.throws(() => writeWebPage([program], join(web, "a", "b")), { message: /cannot flash/ });
  t.false(existsSync(join(web, "beside")), "nothing is written before the check");
});

test("a web folder takes a new version, but no program with another partition table", (t) => {
  const web = folder();
  writeWeb(web, [{ chip: "esp32c3" }]);
  writeWeb(web, [{ chip: "esp32c3", application: imageFor("esp32c3", 4, 8192) }]);
  const image = (): number => readFileSync(join(web, "esp32c3/xs_esp32.bin")).length;
  t.is(image(), 8192);
  t.throws(() => writeWeb(web, [{ chip: "esp32c3", rows: ROWS.slice(0, 4) }]), {
    instanceOf: SdkError,
    message: /another partition table\. Write to a new folder/,
  });
  t.is(image(), 8192);
});
