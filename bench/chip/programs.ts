// The programs that are compared, and how each is built.
import { createHash, X509Certificate } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHIP } from "../../test/chip/chip.js";
import { authority, imageOf, type Settings, urlOf } from "../../test/chip/rig.js";
import { plainTarget } from "../../tools/moddable/esp32/chips.js";
import { buildImage, type Image } from "../../tools/moddable/esp32/esp32.js";
import { partsOf } from "../../tools/moddable/esp32/flash-image.js";
import { findIdf } from "../../tools/moddable/esp32/idf.js";
import { run } from "../../tools/moddable/program.js";
import { findSdk } from "../../tools/moddable/sdk.js";
import { PROJECT } from "../../tools/project.js";

/** Of the device that all programs are; as long as those the platform makes. */
export const TOKEN = "benchbenchbenchbench";
export const PROGRAMS = ["mote", "c", "js"] as const;
export type ProgramName = (typeof PROGRAMS)[number];

export interface Variant {
  readonly secure?: boolean;
  readonly version?: string;
  /** Of Mote, which the others learn by RPC: whether a point is on flash once it is recorded. */
  readonly durable?: boolean;
  /** Of Mote, as above: how long a point waits for others. */
  readonly batchAgeMs?: number;
  /** A device that sleeps and uploads at each wake; always on without. */
  readonly sleepMs?: number;
}

export interface Built {
  readonly image: Image;
  /** What an update downloads. */
  readonly application: string;
  readonly elf: string;
}

const SDK_NAME = "xs_esp32";
const C_NAME = "c_program";
const OUT = join(PROJECT, "build", "chip");

/** Built once, kept until a source or a setting changes. */
export async function build(name: ProgramName, variant: Variant): Promise<Built> {
  if (name === "c") return built(await buildC(variant), C_NAME);
  const { secure = false, version = "1.0.0", durable = false, batchAgeMs = 1000 } = variant;
  const cycle = variant.sleepMs === undefined ? {} : { cycle: { everyMs: variant.sleepMs, connectEvery: 1 } };
  const common = { provisioning: undefined, token: TOKEN, ...cycle };
  const telemetry = { timestamps: "device", durable, batchAgeMs };
  const settings: Settings =
    name === "mote"
      ? { program: "bench", secure, version, more: { ...common, telemetry } }
      : { program: "bench-js", secure, version, more: common };
  return built(await imageOf(settings), SDK_NAME);
}

const built = (image: Image, name: string): Built => ({
  image,
  application: join(image.folder, `${name}.bin`),
  elf: join(image.folder, `${name}.elf`),
});

/** The sample as a user builds it, for a board with Wi-Fi. */
export const sampleImage = (): Promise<Image> =>
  buildImage({
    sdk: findSdk(),
    folder: join(PROJECT, "examples", "sample"),
    target: plainTarget(CHIP.name),
    debug: false,
    megabytes: 4,
    config: {},
    out: join(OUT, "sample"),
  });

const C_SOURCE = join(PROJECT, "bench", "chip", "c-program");
const OPTIONS = "sdkconfig.defaults";
const TABLE = join(PROJECT, "hosts", "esp32", "flash", "sdkconfig", "partitions-4mb.csv");

/** By ESP-IDF's own tool, in a copy: it writes beside its sources. */
async function buildC({ secure = false, version = "1.0.0", sleepMs = 0 }: Variant): Promise<Image> {
  const url = urlOf({ secure });
  const files = readdirSync(C_SOURCE, { recursive: true, encoding: "utf8" })
    .map((name) => join(C_SOURCE, name))
    .filter((path) => /\.\w+$/.test(path));
  const key = createHash("sha256")
    .update(JSON.stringify([url, version, sleepMs, TOKEN, authority().ca]))
    .update([...files, TABLE].map((path) => readFileSync(path, "utf8")).join("\n"))
    .digest("hex")
    .slice(0, 16);
  const kept = join(OUT, "images", key);
  if (existsSync(join(kept, "flash_args"))) return { directory: kept, folder: kept, chip: CHIP.name };
  findIdf(process.env);
  const folder = join(OUT, "c-program");
  const options = join(folder, OPTIONS);
  const before = existsSync(options) ? readFileSync(options, "utf8") : undefined;
  for (const path of files) copyChanged(path, join(folder, path.slice(C_SOURCE.length)));
  // ESP-IDF keeps the options that it saw first.
  if (readFileSync(options, "utf8") !== before)
    for (const name of ["sdkconfig", "build"]) rmSync(join(folder, name), { recursive: true, force: true });
  copyChanged(TABLE, join(folder, "partitions.csv"));
  const ca = join(folder, "ca.pem");
  writeChanged(ca, new X509Certificate(authority().ca).toString());
  const env = {
    ...process.env,
    BENCH_URL: url,
    BENCH_TOKEN: TOKEN,
    BENCH_VERSION: version,
    BENCH_SLEEP: String(sleepMs / 1000),
    BENCH_CA: ca,
  };
  const idf = (...words: string[]) => run("idf.py", words, folder, env);
  if (!existsSync(join(folder, "build", "CMakeCache.txt"))) await idf("set-target", CHIP.name);
  await idf("reconfigure");
  await idf("build");
  const from: Image = { directory: join(folder, "build"), folder: join(folder, "build"), chip: CHIP.name };
  rmSync(kept, { recursive: true, force: true });
  for (const { file } of partsOf(from)) cpSync(file, join(kept, file.slice(from.folder.length)));
  for (const name of [`${C_NAME}.elf`, "flash_args"]) cpSync(join(from.folder, name), join(kept, name));
  return { directory: kept, folder: kept, chip: CHIP.name };
}

function copyChanged(from: string, to: string): void {
  mkdirSync(join(to, ".."), { recursive: true });
  writeChanged(to, readFileSync(from, "utf8"));
}

/** A younger file would have everything built again. */
function writeChanged(path: string, text: string): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeFileSync(path, text);
}
