// The README's example, as it stands there: compiled with all checks on, then run against the local platform.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import test from "ava";
import { build } from "esbuild";
import { createHost } from "../../hosts/node/host.js";
import { startRig, until } from "./rig.js";
import { localPlatform } from "./server.js";

const EXAMPLE = /```ts\n(const agent = new Agent[\s\S]*?)```/;
const REPORTS = /```ts\n(const reports = new ReportOnChange[\s\S]*?)```/;
const WAKE = /```ts\n(const wake = await agent[\s\S]*?)```/;
mkdirSync("dist", { recursive: true });
const FOLDER = mkdtempSync(resolve("dist", "readme-"));

const around = (example: string): string => `import { Agent, type Host } from "../../src/index.js";
export interface Surroundings { host: Host; key: string; secret: string; secretKey: string; sampler: { every(seconds: number): void } }
export async function run({ host, key, secret, secretKey, sampler }: Surroundings) {
${example}
return { agent, shared, answer };
}
`;

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
  writeFileSync(join(FOLDER, "example.ts"), around(example));
  writeFileSync(join(FOLDER, "reports.ts"), aroundReports(reports));
  writeFileSync(join(FOLDER, "wake.ts"), aroundWake(wake));
  const settings = { extends: "../../tsconfig.json", include: ["*.ts"], exclude: [] };
  writeFileSync(join(FOLDER, "tsconfig.json"), JSON.stringify(settings));
  t.notThrows(() => execFileSync("npx", ["tsc", "-p", FOLDER], { stdio: "pipe" }));

  writeFileSync(
    join(FOLDER, "here.ts"),
    around(example).replace("https://platform.example.com", rig.url).replace("greenhouse-7", rig.name),
  );
  const outfile = join(FOLDER, "here.mjs");
  await build({
    entryPoints: [join(FOLDER, "here.ts")],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
  });
  const { run } = await import(pathToFileURL(outfile).href);
  const { key, secret } = rig.provisioning;
  const seconds: number[] = [];
  const host = createHost({ stateDir: rig.stateDir, log: () => {} });
  const sampler = { every: (value: number) => seconds.push(value) };
  const { agent, shared, answer } = await run({ host, key, secret, secretKey: "s3cret", sampler });
  t.teardown(() => agent.stop());
  t.deepEqual({ ...shared }, {});
  t.regex(JSON.stringify(answer), /\d{13}/);
  const id = await rig.deviceId();
  await rig.operator.attributes.set(id, "SHARED_SCOPE", { interval: 5 });
  t.deepEqual(await rig.operator.rpc.twoWay(id, "setLed", { on: true }), { on: true });
  await until(async () => seconds.length > 0, "the shared attribute arrives");
  t.deepEqual(seconds, [5]);
  const found = await until(async () => {
    const values = await rig.operator.timeSeries.latest(id, ["temperature", "humidity"]);
    return values.humidity && values;
  }, "the point is there");
  t.is(found.temperature?.value, 21.5);
  t.like(await rig.operator.attributes.get(id, "CLIENT_SCOPE"), { serial: "A-113" });
});
