// `mote run PROGRAM`: every template as an image for Node, and what a user does to a program.
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { createHost } from "../../../hosts/node/host.js";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { NODE, TEMPLATES } from "../../../tools/cli/commands/new/templates.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { loadImage } from "../../../tools/run/image.js";
import { hiding, Lines } from "../../../tools/run/lines.js";
import { bundle, refuseMissingModules, sourceAt } from "../../../tools/run/project/bundle.js";
import { develop } from "../../../tools/run/project/develop.js";
import { supervise } from "../../../tools/run/supervisor.js";
import { buildTools } from "../../built.js";
import { mote } from "../cli/commands.js";
import { operatorOf } from "../operator-of.js";
import { until } from "../until.js";
import { configFor } from "./images.js";
import { EventLog } from "./session.js";

const place = mkdtempSync(join(tmpdir(), "mote-project-"));
test.before(() => buildTools());
test.after.always(() => rmSync(place, { recursive: true, force: true }));

const project = (name: string, main: string): string => {
  const folder = join(place, name);
  newProject(folder, "minimal");
  writeFileSync(join(folder, "main.ts"), main);
  return folder;
};

test.serial("every template delivers its values on Node, without the SDK", async (t) => {
  t.timeout(180_000);
  const platform = await startPlatform({ port: 0 });
  t.teardown(() => platform.close());
  const run = async (template: (typeof TEMPLATES)[number] | typeof NODE): Promise<void> => {
    const folder = join(place, `t-${template}`);
    newProject(folder, template);
    const { bytes } = await bundle(sourceAt(folder));
    const stop = new AbortController();
    const log = new EventLog();
    const output = { write: (line: string) => log.add(JSON.parse(line)), on: () => {}, writableLength: 0 };
    const provisioning = { ...platform.profile, deviceName: template };
    const config = {
      ...configFor(join(place, `s-${template}`)),
      ...{ token: undefined, url: platform.url, provisioning, intervalMs: 1000 },
      ...(template.startsWith("battery") && { cycle: 1 }),
    };
    const ended = supervise({
      ...{ config, app: bytes, lines: new Lines(output, "json", hiding([])) },
      ...{ stop: stop.signal, kill: new AbortController().signal },
    });
    await log.first("telemetry.delivered", 90_000);
    t.like(log.named("started")[0], { title: `t-${template}`, version: "1.0.0" });
    stop.abort();
    t.is(await ended, 0);
  };
  await Promise.all([...TEMPLATES, NODE as typeof NODE].map(run));
});

test.serial(
  "what a program throws is logged with its own line, and its image's checksum is known",
  async (t) => {
    t.timeout(120_000);
    const platform = await startPlatform({ port: 0 });
    t.teardown(() => platform.close());
    const file = join(place, "thrower.ts");
    writeFileSync(
      file,
      `interface Erased {
  type: "only";
}
export const firmware = { title: "thrower", version: "1.0.0" };
const fail = (what: string): never => {
  throw new RangeError(what);
};
export default (agent: any): void => {
  agent.rpc.handle("now", () => fail("at once"));
  agent.rpc.handle("later", async () => fail(await Promise.resolve("soon")));
  agent.attributes.subscribe("interval", () => fail("subscribed"));
  agent.rpc.handle("crash", () => void setTimeout(() => fail("unguarded"), 1));
};`,
    );
    const { bytes } = await bundle(sourceAt(file), { isMapped: true });
    const stop = new AbortController();
    const log = new EventLog();
    const output = { write: (line: string) => log.add(JSON.parse(line)), on: () => {}, writableLength: 0 };
    const { core } = platform;
    const device = core.createDevice(
      { name: "thrower", profileId: core.profiles.default.id },
      "thrower-token",
    );
    const config = { ...configFor(join(place, "s-thrower")), token: "thrower-token", url: platform.url };
    const ended = supervise({
      ...{ config, app: bytes, lines: new Lines(output, "json", hiding([])) },
      ...{ stop: stop.signal, kill: new AbortController().signal },
    });
    t.teardown(() => stop.abort());
    const operator = await operatorOf(platform);
    await log.first("online", 90_000);
    core.saveAttributes(device, "SHARED_SCOPE", [["interval", 1n]]);
    for (const method of ["now", "later", "crash"])
      await operator.rpc.twoWay(device.id, method).catch(() => {});
    const lines = (): string[] =>
      [...log.named("log"), ...log.named("crash")].map(({ line, reason }) => String(line ?? reason));
    const isLogged = (part: RegExp): boolean => lines().some((line) => part.test(line));
    await until(() => isLogged(/RangeError: unguarded/) && isLogged(/subscriber/));
    for (const [what, line] of [
      ["handler of now threw RangeError: at once", 9],
      ["handler of later threw RangeError: soon", 10],
      ["subscriber of interval threw RangeError: subscribed", 11],
      ["RangeError: unguarded", 12],
    ] as const)
      t.true(isLogged(new RegExp(`${what} .*thrower\\.ts:6:9.*thrower\\.ts:${line}:`)), what);
    await until(() => device.series.latest("current_fw_checksum") !== undefined);
    t.is(
      device.series.latest("current_fw_checksum")?.value as unknown,
      createHash("sha256").update(bytes).digest("hex"),
    );
    stop.abort();
    t.is(await ended, 0);
  },
);

test("an image has the manifest's firmware options and the program's own", async (t) => {
  const folder = project(
    "options",
    `import { start } from "mote/board";
import config from "mc/config";
export default function main(): void {
  start({ application: () => config.intervalMs, firmware: { selfTest: () => false } });
}`,
  );
  const { bytes, config } = await bundle(sourceAt(folder));
  const file = join(place, "options.mjs");
  writeFileSync(file, bytes);
  const image = await loadImage(file);
  t.like(image.firmware, { title: "options", version: "1.0.0" });
  t.true(await image.firmware.selfTest?.(), "no answer before main ran");
  t.is(image.default({} as never, {} as never), 10_000);
  t.false(await image.firmware.selfTest?.());
  t.is(config.intervalMs, 10_000);
});

test("a module that Node lacks, and a mistake, are named with their file", async (t) => {
  const piu = project("piu", `import "piu/MC";\nexport default function main(): void {}`);
  await t.throwsAsync(bundle(sourceAt(piu)), {
    name: "UsageError",
    message: /Node has no module "piu\/MC"[\s\S]*main\.ts/,
  });
  const node = project("node", `import "node:fs";\nexport default function main(): void {}`);
  await t.throwsAsync(bundle(sourceAt(node)), { message: /a board has no module "node:fs"[\s\S]*main\.ts/ });
  await t.throwsAsync(refuseMissingModules(sourceAt(node)), {
    ...{ name: "UsageError", message: /^main\.ts: a board has no module "node:fs"/ },
  });
  await t.notThrowsAsync(refuseMissingModules(sourceAt(piu)));
  const climate = project("climate", `import "file";\nimport "timer";`);
  await t.throwsAsync(refuseMissingModules(sourceAt(climate), new Set(["timer"])), {
    message: 'main.ts: a board has no module "file": the manifest names none for the platform "esp32"',
  });
  const changes = project("changes", `import "mote/report-on-change";\nexport default () => {};`);
  await t.throwsAsync(bundle(sourceAt(changes)), { message: /add "\$\(MOTE\)\/extras\/report-on-change/ });
  const simulated = project("simulated", `import "mote/simulated";`);
  await t.throwsAsync(refuseMissingModules(sourceAt(simulated), new Set()), {
    message: /^main\.ts: a board has no module "mote\/simulated": use it in a module of the platform/,
  });
  const wrong = project("wrong", "export default function main( {");
  await t.throwsAsync(bundle(sourceAt(wrong)), { name: "UsageError", message: /main\.ts:1/ });
  t.throws(() => sourceAt(join(place, "absent")), { message: /does not exist \(create a project: mote new/ });
  t.throws(() => sourceAt(place), { message: /has no main\.ts/ });
});

test("the manifest may name all files of a folder", async (t) => {
  const folder = project("pattern", `import { answer } from "answer";\nexport default () => answer;`);
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  manifest.modules["*"] = ["./main", "./lib/*"];
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  mkdirSync(join(folder, "lib"));
  writeFileSync(join(folder, "lib", "answer.ts"), "export const answer = 42;");
  const { inputs } = await bundle(sourceAt(folder));
  t.true(inputs.includes(join(folder, "lib", "answer.ts")));
  manifest.modules["*"].push("./pump");
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  await t.throwsAsync(bundle(sourceAt(folder)), { message: /a module that does not exist: .*pump$/ });
  writeFileSync(join(folder, "pump.c"), "");
  await t.notThrowsAsync(bundle(sourceAt(folder)), "the SDK's tools compile C");
});

test("says at the start which server the manifest names", async (t) => {
  const folder = project("named", "export default () => {};");
  const manifest = JSON.parse(readFileSync(join(folder, "manifest.json"), "utf8"));
  manifest.config.baseUrl = "http://192.0.2.2:8080";
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  const { out, code } = await mote(["run", folder]);
  t.regex(out, /server: http:\/\/192\.0\.2\.2:8080 \(baseUrl of manifest\.json; for a local platform, /);
  t.is(code, 2, "it has no credentials");
});

test("TypeScript in a file of another name is called so, instead of being tried for ever", async (t) => {
  const file = join(place, "typed.mjs");
  writeFileSync(file, "const a: number = 1;");
  await t.throwsAsync(loadImage(file), {
    name: "ImageError",
    message: /TypeScript has a name that ends in \.ts/,
  });
});

test("starts again after a change that can be built, and reports one that cannot", async (t) => {
  const file = join(place, "changing.ts");
  const write = (version: string): void =>
    writeFileSync(
      file,
      `export const firmware = { title: "a", version: "${version}" };\nexport default () => {};`,
    );
  write("1");
  const source = sourceAt(file);
  const stop = new AbortController();
  const runs: string[] = [];
  const told: string[] = [];
  const ended = develop({
    ...{ source, first: await bundle(source), stop: stop.signal },
    tell: (_, line) => told.push(line),
    run(image, until, again) {
      runs.push(`${/version: "(\d)"/.exec(Buffer.from(image).toString())?.[1]} ${again}`);
      return new Promise((resolve) => until.addEventListener("abort", () => resolve(0)));
    },
  });
  writeFileSync(file, "export const firmware = {");
  await until(() => told.some((line) => line.includes("cannot be built")));
  write("2");
  await until(() => runs.length === 2);
  stop.abort();
  t.is(await ended, 0);
  t.deepEqual(runs, ["1 false", "2 true"]);
});

test("createHost without a state directory says what is missing", (t) => {
  for (const options of [undefined, {}, { stateDir: "" }])
    t.throws(() => createHost(options as never), { instanceOf: TypeError, message: /missing stateDir/ });
});
