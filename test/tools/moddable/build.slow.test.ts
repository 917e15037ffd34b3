// ESP32 builds by the SDK that $MODDABLE names, C aside: ESP-IDF is not needed.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { TEMPLATES } from "../../../tools/cli/commands/new/templates.js";
import { buildProgram } from "../../../tools/moddable/build.js";
import { checkBuild } from "../../../tools/moddable/esp32/check.js";
import { figureLines } from "../../../tools/moddable/esp32/check-figures.js";
import { type BuildOptions, buildImage, buildScripts } from "../../../tools/moddable/esp32/esp32.js";
import { idfForCheck } from "../../../tools/moddable/esp32/idf.js";
import { run } from "../../../tools/moddable/program.js";
import { findSdk, type Sdk, SdkError } from "../../../tools/moddable/sdk.js";
import type { SimulatorRun } from "../../../tools/moddable/simulator/simulator.js";
import { PROJECT } from "../../../tools/project.js";
import { mote } from "../cli/commands.js";
import { scratch } from "../scratch.js";

const TARGETS = [
  ...["esp32", "esp32/esp32c3", "esp32/esp32c6", "esp32/esp32s3", "esp32/esp32s3_cdc", "esp32/moddable_two"],
  "esp32/saola_wroom",
];
const place = scratch();

function findIt(): Sdk | string {
  try {
    return findSdk();
  } catch (error) {
    return error instanceof Error ? error.message.split("\n")[0]! : "unknown";
  }
}

const sdk = findIt();

/** One after the other: the machine is busy enough with one. */
function withSdk(title: string, run: (t: ExecutionContext, sdk: Sdk) => Promise<void>): void {
  if (typeof sdk === "string") test.skip(`${title} (${sdk})`, () => {});
  else test.serial(title, (t) => run(t, sdk));
}

const options = (sdk: Sdk, target: string, more: Partial<BuildOptions> = {}): BuildOptions => ({
  sdk,
  folder: join(PROJECT, "examples", "sample"),
  target,
  debug: false,
  megabytes: 4,
  config: {},
  out: join(place, target.replace("/", "-")),
  ...more,
});

const checked = async (how: BuildOptions) => checkBuild(await buildScripts(how), how);

for (const target of TARGETS) {
  withSdk(`${target}: the sample builds, with the partitions and options for updates`, async (t, sdk) => {
    const { wrong, figures } = await checked(options(sdk, target));
    t.deepEqual(wrong, []);
    const lines = figureLines(figures);
    t.true(lines.length > 10);
    const isShort = lines.some((line) => line.includes("TLS does not fit"));
    t.is(isShort, figures.chip === "esp32s2", "only this chip has no room for TLS beside Wi-Fi");
  });
}

withSdk("refuses a heap that fits neither the chip nor the engine", async (t, sdk) => {
  const folder = join(place, "blocks");
  newProject(folder);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const how = options(sdk, "esp32/esp32c3", { folder, out: join(folder, "build") });
  const wrong = async (creation: object) => {
    writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifest, creation }));
    return (await checked(how)).wrong.join();
  };
  t.regex(
    await wrong({ static: 163_840 }),
    /^creation\.static is 163,840 bytes: .* esp32c3 has for it is 155,648 \(measured\)/,
  );
  t.is(
    await wrong({ static: 98_304 }),
    "the engine begins with 104,448 bytes (creation.chunk.initial, heap.initial and stack): creation.static is 98,304",
  );
  t.is(await wrong({ static: 98_304, chunk: { initial: 24_576 } }), "");
});

withSdk("refuses an image that is larger than a slot before it is linked", async (t, sdk) => {
  const folder = join(place, "fat");
  newProject(folder);
  const text = `export const all = [${Array.from({ length: 40_000 }, (_, n) => `"line ${n}"`).join(",")}];`;
  writeFileSync(join(folder, "fat.js"), `${text}\nObject.freeze(all);\n`);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  manifest.modules.fat = "./fat";
  manifest.preload = [...(manifest.preload ?? []), "fat"];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const how = options(sdk, "esp32/esp32c3", { folder, out: join(folder, "build") });
  t.regex((await checked(how)).wrong.join(), /the image takes about [\d,]+ bytes: a slot has 1,900,544/);
  t.deepEqual((await checked({ ...how, megabytes: 8 })).wrong, []);
});

for (const template of TEMPLATES)
  withSdk(`${template}: a new project builds unchanged, and all of it is in ROM`, async (t, sdk) => {
    const folder = join(place, `new-${template}`);
    newProject(folder, template);
    for (const target of ["esp32/nodemcu", "esp32/esp32c3"]) {
      const out = join(folder, "build", target.replace("/", "-"));
      const { wrong, figures } = await checked(options(sdk, target, { folder, out }));
      t.deepEqual(wrong, [], target);
      t.deepEqual(figures.unpreloaded, [], target);
    }
  });

withSdk("warns of an application with Piu, whose main is not in ROM", async (t, sdk) => {
  const folder = join(place, "piu");
  newProject(folder, "minimal");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  const include = [manifest.include, "$(MODDABLE)/examples/manifest_piu.json"].flat();
  // The SDK can't preload a main that makes skins or styles.
  const platforms = { esp32: { preload: [] } };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifest, include, platforms }));
  const how = options(sdk, "esp32/moddable_two", { folder, out: join(folder, "build") });
  const { wrong, warnings } = await checked(how);
  t.deepEqual(wrong, []);
  t.regex(warnings.join(), /^main is not preloaded, because it uses Piu: [\d,]+ bytes of it in RAM$/);
});

withSdk("a type error of an application fails the build, with its line", async (t, sdk) => {
  const folder = join(place, "mistaken");
  newProject(folder);
  const main = readFileSync(join(folder, "main.ts"), "utf8");
  writeFileSync(
    join(folder, "main.ts"),
    main.replace("agent.telemetry.record({", "agent.telemetry.recrod({"),
  );
  const build = buildScripts(options(sdk, "esp32", { folder, out: join(folder, "build") }));
  await t.throwsAsync(build, { instanceOf: SdkError, message: /main\.ts\(\d+,\d+\): error TS2551/ });
});

withSdk("prints an exception in the simulator with its line", async (t, sdk) => {
  const folder = join(place, "thrower");
  newProject(folder, "minimal");
  const main = readFileSync(join(folder, "main.ts"), "utf8");
  writeFileSync(
    join(folder, "main.ts"),
    main.replace(
      "agent.telemetry.record(",
      'throw new Error("a pin too many");\n      agent.telemetry.record(',
    ),
  );
  const env = { MODDABLE: sdk.path };
  const { code, out } = await mote(["simulator", folder, "--headless", "--for", "1m"], env);
  t.is(code, 1, out);
  t.regex(out, /Error: a pin too many\n[^\n]*main\.ts:8\)/);
  t.notRegex(out, /# Exception/);
});

withSdk("refuses to build a project whose data contain a private key", async (t, sdk) => {
  const folder = join(place, "careless");
  newProject(folder);
  writeFileSync(join(folder, "ca.der"), "");
  writeFileSync(join(folder, "ca.key"), "");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  writeFileSync(join(folder, "manifest.json"), JSON.stringify({ ...manifest, data: { "*": "./ca" } }));
  const refused = { instanceOf: SdkError, message: /private keys would[\s\S]*careless\/ca\.key\n/ };
  const out = join(folder, "build");
  await t.throwsAsync(buildScripts(options(sdk, "esp32", { folder, out })), refused);
  await t.throwsAsync(buildProgram(sdk, folder, out), refused);
  t.false(
    readdirSync(out, { recursive: true }).some((name) => /mc\.(?:xs|resources)\.c$|mc\.so$/.test(`${name}`)),
  );
});

withSdk("repeats a failed configure step of ESP-IDF with the next build", async (t, sdk) => {
  const folder = mkdtempSync(join(place, "idf-"));
  const IDF_PATH = await idfForCheck(sdk, folder);
  const who = ["-c", "user.name=mote", "-c", "user.email=mote@localhost"];
  await run("git", [...who, "tag", "-f", "-a", "-m", "as released", "v6.0"], IDF_PATH, sdk.env);
  mkdirSync(join(IDF_PATH, "tools"));
  writeFileSync(join(IDF_PATH, "tools", "idf.py"), "");
  // As ESP-IDF's: the options are written before a component is found missing.
  const script =
    '#!/bin/sh\necho "$*" >> "$TRIED"\nmkdir -p build/config\ntouch build/config/sdkconfig.h\nexit 2\n';
  writeFileSync(join(folder, "idf.py"), script, { mode: 0o755 });
  const TRIED = join(folder, "tried");
  const env = { ...sdk.env, IDF_PATH, TRIED, PATH: `${folder}:${sdk.env.PATH}` };
  const build = options({ ...sdk, env }, "esp32", { out: join(folder, "out") });
  for (let tries = 1; tries <= 2; tries++) {
    await t.throwsAsync(buildImage(build), { instanceOf: SdkError });
    const tried = readFileSync(TRIED, "utf8").trim().split("\n");
    t.is(tried.filter((words) => words.includes("reconfigure")).length, tries);
  }
});

/** For the machine to be slow in. */
const PATIENCE_MS = 120_000;

async function _until(run: SimulatorRun, reached: () => boolean | Promise<boolean>): Promise<void> {
  const late = Date.now() + PATIENCE_MS;
  while (!(await reached())) {
    if (Date.now() > late) throw new Error("it took too long");
    await Promise.race([run.ended, new Promise((go) => setTimeout(go, 300))]);
  }
}

withSdk("a project's manifest cannot remove the options of an update", async (t, sdk) => {
  const folder = join(place, "thief");
  newProject(folder);
  mkdirSync(join(folder, "own"));
  writeFileSync(join(folder, "own", "sdkconfig.defaults"), "CONFIG_BOOTLOADER_APP_ROLLBACK_ENABLE=n\n");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  writeFileSync(join(folder, "own", "manifest.json"), '{"build":{"SDKCONFIGPATH":"./"}}');
  manifest.include.push("./own/manifest.json");
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const out = join(place, "thief-out");
  // Ours come after the project's, whatever it includes.
  t.deepEqual((await checked(options(sdk, "esp32", { folder, out }))).wrong, []);
});
