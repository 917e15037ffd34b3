// The README's example, as it stands there: compiled with all checks on, then run as a program of
// its own, without any server and against the local platform.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import test from "ava";
import { build } from "esbuild";
import { startRig, until } from "./rig.js";
import { localPlatform } from "./server.js";

const EXAMPLE = /```ts\n(import \{ Agent \}[\s\S]*?)```/;
const REPORTS = /```ts\n(const reports = new ReportOnChange[\s\S]*?)```/;
const WAKE = /```ts\n(const wake = await agent[\s\S]*?)```/;
mkdirSync("dist", { recursive: true });
const FOLDER = mkdtempSync(resolve("dist", "readme-"));

/** The example with the paths of this project in place of the package's names. */
const inProject = (example: string): string =>
  example
    .replace('"mote-agent"', '"../../src/index.js"')
    .replace('"mote-agent/node"', '"../../hosts/node/host.js"');

const aroundReports = (example: string): string => `import type { Agent, Host } from "../../src/index.js";
import { ReportOnChange } from "../../extras/report-on-change/index.js";
export function run(agent: Agent, host: Host) {
${example}
}
`;

const aroundWake = (example: string): string => `import type { Agent } from "../../src/index.js";
export async function run(agent: Agent, temperature: number, kept: string | undefined, sleep: (ms: number, kept: string) => Promise<void>) {
${example}
}
`;

test("the README's example compiles under the project's own strict settings and runs", async (t) => {
  const example = EXAMPLE.exec(readFileSync("README.md", "utf8"))?.[1] ?? "";
  t.true(example.includes("agent.start();"));
  const reports = REPORTS.exec(readFileSync("docs/guides/telemetry.md", "utf8"))?.[1] ?? "";
  t.true(reports.includes("reports.record("));
  const wake = WAKE.exec(readFileSync("docs/guides/battery.md", "utf8"))?.[1] ?? "";
  t.true(wake.includes("wake.sleepMs"));
  const rig = await startRig(t, localPlatform());
  t.teardown(() => rmSync(FOLDER, { recursive: true, force: true }));
  writeFileSync(join(FOLDER, "example.ts"), inProject(example));
  writeFileSync(join(FOLDER, "reports.ts"), aroundReports(reports));
  writeFileSync(join(FOLDER, "wake.ts"), aroundWake(wake));
  const settings = { extends: "../../tsconfig.json", include: ["*.ts"], exclude: [] };
  writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(settings));
  t.notThrows(() => execFileSync("npx", ["tsc", "-p", FOLDER], { stdio: "pipe" }));

  const { key, secret } = rig.provisioning;
  const program = async (url: string): Promise<ChildProcess> => {
    const here = [
      ["https://platform.example.com", url],
      ["greenhouse-7", rig.name],
      ["KEY", key],
      ["SECRET", secret],
      ["./state", rig.stateDir],
    ].reduce((text, [given = "", own = ""]) => text.replace(given, own), inProject(example));
    writeFileSync(join(FOLDER, "here.ts"), `${here}process.stderr.write("recorded");\n`);
    const outfile = join(FOLDER, "here.mjs");
    const entryPoints = [join(FOLDER, "here.ts")];
    await build({ entryPoints, outfile, bundle: true, format: "esm", platform: "node" });
    const child = spawn(process.execPath, [outfile], { stdio: ["ignore", "ignore", "pipe"] });
    t.teardown(() => child.kill("SIGKILL"));
    return child;
  };

  // Without any server: nothing listens at port 9 of this machine.
  const offline = await program("http://127.0.0.1:9");
  let lines = "";
  offline.stderr?.on("data", (data) => {
    lines += data;
  });
  await until(() => Promise.resolve(lines.includes("recorded")), "the program runs");
  await setTimeout(2000);
  t.is(offline.exitCode, null, lines);
  offline.kill("SIGTERM");
  await once(offline, "exit");

  const online = await program(rig.url);
  const id = await rig.deviceId();
  t.deepEqual(await rig.operator.rpc.twoWay(id, "setLed", { on: true }), { on: true });
  t.deepEqual(await rig.operator.rpc.twoWay(id, "setLed", null), { on: false });
  const serial = async () => (await rig.operator.attributes.get(id, "CLIENT_SCOPE")).serial === "A-113";
  await until(serial, "the client attribute is there");
  const points = async (count: number) => {
    const range = { keys: ["temperature", "humidity"], startTs: 0, endTs: Date.now() + 60_000 };
    const { temperature = [], humidity = [] } = await rig.operator.timeSeries.range(id, range);
    return (
      temperature.length >= count &&
      humidity.length >= count &&
      temperature.every(({ value }) => value === 21.5)
    );
  };
  await until(() => points(2), "the point of the start without a server, and that of this one");
  await rig.operator.attributes.set(id, "SHARED_SCOPE", { interval: 0.5 });
  await until(() => points(5), "points at the interval of the shared attribute");
  t.is(online.exitCode, null);
});
