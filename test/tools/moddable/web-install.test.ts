import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { familyOf, writeWebInstall } from "../../../tools/moddable/esp32/web-install.js";
import { esptoolCommands, isManifest, keepsItsData } from "../../../tools/moddable/esp32/web-manifest.js";
import { SdkError } from "../../../tools/moddable/sdk.js";

const folder = mkdtempSync(join(tmpdir(), "mote-web-"));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));

/** As a build leaves it: parts, and where they go. */
function image(chip: string, boot: string) {
  const built = join(folder, chip);
  const files: [string, string][] = [
    [boot, "bootloader/bootloader.bin"],
    ["0x8000", "partition_table/partition-table.bin"],
    ["0xd000", "ota_data_initial.bin"],
    ["0x20000", "xs_esp32.bin"],
  ];
  for (const [, file] of files) {
    mkdirSync(join(built, file, ".."), { recursive: true });
    writeFileSync(join(built, file), `${chip} ${file}`);
  }
  writeFileSync(
    join(built, "flash_args"),
    ["--flash_mode dio", ...files.map((words) => words.join(" "))].join("\n"),
  );
  return { directory: built, folder: built, chip };
}

const LAMP = { name: "lamp", version: "1.0.0" };

test("each part stands for itself at its offset, so that what a device stored stays", (t) => {
  const web = join(folder, "web");
  t.deepEqual(writeWebInstall(image("esp32c3", "0x0"), LAMP, web), { chips: ["ESP32-C3"], erased: [] });
  const {
    name,
    version,
    builds: written,
    ...rest
  } = JSON.parse(readFileSync(join(web, "manifest.json"), "utf8"));
  t.deepEqual({ name, version }, LAMP);
  t.true(rest.new_install_prompt_erase);
  const builds = written.map(({ partition_table, ...build }: { partition_table: string }) => {
    t.regex(partition_table, /^[0-9a-f]{16}$/);
    return build;
  });
  t.deepEqual(builds, [
    {
      chipFamily: "ESP32-C3",
      parts: [
        { path: "esp32c3/bootloader.bin", offset: 0 },
        { path: "esp32c3/partition-table.bin", offset: 0x8000 },
        { path: "esp32c3/ota_data_initial.bin", offset: 0xd000 },
        { path: "esp32c3/xs_esp32.bin", offset: 0x20000 },
      ],
    },
  ]);
  t.is(readFileSync(join(web, "esp32c3/xs_esp32.bin"), "utf8"), "esp32c3 xs_esp32.bin");
});

test("the page has a command of esptool for each chip", (t) => {
  const web = join(folder, "command");
  writeWebInstall(image("esp32", "0x1000"), LAMP, web);
  writeWebInstall(image("esp32c3", "0x0"), LAMP, web);
  const manifest: unknown = JSON.parse(readFileSync(join(web, "manifest.json"), "utf8"));
  t.deepEqual(isManifest(manifest) && esptoolCommands(manifest), [
    "esptool --chip esp32 write-flash 0x1000 esp32/bootloader.bin 0x8000 esp32/partition-table.bin 0xd000 esp32/ota_data_initial.bin 0x20000 esp32/xs_esp32.bin",
    "esptool --chip esp32c3 write-flash 0x0 esp32c3/bootloader.bin 0x8000 esp32c3/partition-table.bin 0xd000 esp32c3/ota_data_initial.bin 0x20000 esp32c3/xs_esp32.bin",
  ]);
  for (const none of [undefined, null, {}, { name: "a", version: "1", builds: [] }, []])
    t.false(isManifest(none));
});

test("another chip of the same version stands beside it, one of another version takes its place", (t) => {
  const web = join(folder, "chips");
  writeWebInstall(image("esp32c3", "0x0"), LAMP, web);
  t.deepEqual(writeWebInstall(image("esp32", "0x1000"), LAMP, web).chips, ["ESP32-C3", "ESP32"]);
  t.deepEqual(writeWebInstall(image("esp32", "0x1000"), LAMP, web).chips, ["ESP32-C3", "ESP32"]);
  t.deepEqual(writeWebInstall(image("esp32s3", "0x0"), { ...LAMP, version: "1.1.0" }, web).chips, [
    "ESP32-S3",
  ]);
});

test("a board whose version had another partition table is erased, whatever happened in between, and no other is", (t) => {
  const web = join(folder, "tables");
  const write = (chip: string, version: string, table: string) => {
    const built = image(chip, "0x0");
    writeFileSync(join(built.folder, "partition_table/partition-table.bin"), table);
    const { erased } = writeWebInstall(built, { ...LAMP, version }, web);
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

test("a folder that was written before tables were noted has that of its version", (t) => {
  const web = join(folder, "older");
  const built = image("esp32c3", "0x0");
  writeWebInstall(built, LAMP, web);
  const file = join(web, "manifest.json");
  const { partition_tables: _, builds, ...rest } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(
    file,
    JSON.stringify({
      ...rest,
      builds: builds.map(({ chipFamily, parts }: never) => ({ chipFamily, parts })),
    }),
  );
  writeFileSync(join(built.folder, "partition_table/partition-table.bin"), "another");
  t.deepEqual(writeWebInstall(built, { ...LAMP, version: "2.0.0" }, web).erased, ["1.0.0"]);
});

test("a manifest of something else is left alone", (t) => {
  const web = join(folder, "other");
  mkdirSync(web);
  for (const text of ['{"include":[]}', "{", "null"]) {
    writeFileSync(join(web, "manifest.json"), text);
    t.throws(() => writeWebInstall(image("esp32c3", "0x0"), LAMP, web), { instanceOf: SdkError });
    t.is(readFileSync(join(web, "manifest.json"), "utf8"), text);
  }
  t.throws(() => familyOf("esp8266"), { instanceOf: SdkError });
});
