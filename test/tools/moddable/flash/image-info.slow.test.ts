// What builds left in build/ of this project, by Espressif's own image tools: `npm run esp32 -- --build --target ...` adds a chip.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { writeFlash } from "../../../../tools/moddable/esp32/flash-image.js";
import { familyOf } from "../../../../tools/moddable/esp32/web-install.js";
import { type Flashable, findFirmware } from "../../../../tools/moddable/flash/firmware.js";
import { readImageHeader } from "../../../../tools/moddable/flash/image-header.js";
import { PROJECT } from "../../../../tools/project.js";
import { CHIP_IDS } from "./board.js";

const MEGABYTE = 1024 * 1024;
const { IDF_PYTHON_ENV_PATH = "" } = process.env;
const command = [
  ["esptool"],
  [join(IDF_PYTHON_ENV_PATH, "bin", "python"), "-m", "esptool"],
  ["python3", "-m", "esptool"],
].find(([program, ...words]) => spawnSync(program!, [...words, "version"]).status === 0);

function esptool(...words: string[]): string {
  const [program, ...first] = command!;
  const env = { ...process.env, NO_COLOR: "1", COLUMNS: "200", TERM: "dumb" };
  const { status, stdout, stderr } = spawnSync(program!, [...first, ...words], { env, encoding: "utf8" });
  if (status !== 0) throw new Error(stdout + stderr);
  return stdout;
}

/** Of boards, and one for the emulator. */
function built(): (Flashable & { readonly folder: string })[] {
  const found = existsSync(join(PROJECT, "build")) ? quietly(() => findFirmware(PROJECT)) : [];
  const images = join(PROJECT, "build", "chip", "images");
  const [emulated] = (existsSync(images) ? readdirSync(images) : [])
    .map((name) => join(images, name))
    .filter((folder) => existsSync(join(folder, "flash_args")))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  const ofBoards = found.flatMap((one) => (one.folder === undefined ? [] : [{ ...one, folder: one.folder }]));
  if (emulated === undefined) return ofBoards;
  const parts = readFileSync(join(emulated, "flash_args"), "utf8").matchAll(/^(0x[0-9a-f]+) (\S+)$/gm);
  return [
    ...ofBoards,
    {
      ...{ name: "chip", version: "0", chip: "esp32c3", target: "emulated", folder: emulated },
      parts: [...parts].map(([, offset, file]) => ({ offset: Number(offset), file: join(emulated, file!) })),
    },
  ];
}

function quietly<T>(look: () => T[]): T[] {
  try {
    return look();
  } catch {
    return [];
  }
}

const IMAGES = command ? built() : [];
if (IMAGES.length === 0)
  test.skip(`images of builds, by esptool: ${command ? "nothing was built" : "esptool is missing"}`, () => {});

for (const image of IMAGES) {
  const folder = mkdtempSync(join(tmpdir(), "mote-image-"));
  test.after.always(() => rmSync(folder, { recursive: true, force: true }));

  test(`${image.target}: esptool reads boot loader and application, their checksums are valid, and it is for the chip that we read`, (t) => {
    const images = image.parts.filter(({ file }) => readImageHeader(readFileSync(file)));
    t.is(images.length, 2);
    for (const { file } of images) {
      const info = esptool("image-info", file);
      t.log(info.match(/^(?:Image size|Chip ID|Flash size|Checksum|Validation hash): .*$/gm)?.join("; "));
      t.regex(info, /^Checksum: 0x[0-9a-f]+ \(valid\)$/m);
      t.regex(info, /^Validation hash: [0-9a-f]{64} \(valid\)$/m);
      t.true(info.includes(`Detected image type: ${familyOf(image.chip)}\n`));
      const header = readImageHeader(readFileSync(file));
      t.is(header?.chip, image.chip);
      t.true(info.includes(`Flash size: ${header!.flashBytes / MEGABYTE}MB\n`));
      t.true(info.includes(`Chip ID: ${CHIP_IDS[image.chip]} `));
    }
  });

  test(`${image.target}: the flash that we write is the one that merge-bin makes`, (t) => {
    const [merged, ours] = [join(folder, "merged.bin"), join(folder, "ours.bin")];
    const words = image.parts.flatMap(({ offset, file }) => [`${offset}`, file]);
    esptool("--chip", image.chip, "merge-bin", "--output", merged, ...words);
    writeFlash({ directory: image.folder, folder: image.folder, chip: image.chip }, ours, 4);
    const bytes = readFileSync(merged);
    t.true(readFileSync(ours).subarray(0, bytes.length).equals(bytes));
  });
}
