// From a device's telemetry to a file: the agent sends, the local platform stores, `mote report` writes.
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test from "ava";
import { transform } from "esbuild";
import { Reports, Session } from "../../src/report/index.js";
import { reportHost } from "../../tools/cli/report/host.js";
import { readViews } from "../../tools/platform/core/reports/table-views.js";
import { platformFor } from "../tools/platform-for.js";
import { scratch } from "../tools/scratch.js";

const MEASURED = fileURLToPath(new URL("./report-memory.js", import.meta.url));
const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";
const USER = { username: "tenant@thingsboard.org", password: "tenant" };
const NOON = Date.UTC(2026, 0, 10, 12);

test("200,000 rows pass in flat memory", async (t) => {
  const columns = [
    { label: "Device", column: "device" },
    { label: "At", column: "date", unit: "raw" },
    { label: "energy", column: "sum", key: "energy" },
  ];
  const range = { startTs: NOON, endTs: NOON + 3_600_000 };
  const views = readViews([{ id: VIEW, name: "v", columns, range, filters: { Device: { by: "device" } } }]);
  const { url, core } = await platformFor(t, { views });
  const DEVICES = 20;
  const POINTS = 10_000;
  for (let d = 0; d < DEVICES; d++) {
    const device = core.createDevice({
      name: `device-${String(d).padStart(2, "0")}`,
      profileId: core.profiles.default.id,
    });
    for (let i = 0; i < POINTS; i++) core.receiveTelemetry(device, NOON + i, [["energy", i]]);
  }
  const at = scratch();
  const path = join(at, "report.csv");
  // A process of its own measures itself: what is in use after 1,000 rows, and each time after 10,000 more, garbage collected.
  const child = spawn(process.execPath, [MEASURED, url, VIEW, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const out = (await child.stdout.setEncoding("utf8").toArray()).join("");
  const { few, most, rows } = JSON.parse(out) as Record<"few" | "most" | "rows", number>;
  t.is(rows, DEVICES * POINTS);
  t.log(`${((most - few) / 1024).toFixed(0)} KiB more at the most within ${rows} rows than after 1,000`);
  t.true(most > 0 && most - few < 2 * 1024 * 1024, `${most - few}`);
  const lines = readFileSync(path, "utf8").split("\r\n");
  t.is(lines.length, rows + 2);
  t.is(lines.at(-2), `device-19,${NOON + POINTS - 1},${POINTS - 1}`);
});

test("the report of docs/guides/reports.md builds on a device's host, as it stands there", async (t) => {
  const example =
    /```ts\n(const session = new Session[\s\S]*?)```/.exec(
      readFileSync("docs/guides/reports.md", "utf8"),
    )?.[1] ?? "";
  t.true(example.includes("reports.build("));
  const platform = await platformFor(t);
  const { core, url } = platform;
  const now = Date.now();
  for (const name of ["greenhouse-7", "greenhouse-8"]) {
    const device = core.createDevice({ name, profileId: core.profiles.default.id });
    for (let i = 0; i < 3; i++) core.receiveTelemetry(device, now - i, [["temperature", 20 + i]]);
  }
  const here = example.replace(/https:\/\/\w+\.example\.com/g, url);
  const { code } = await transform(here, {
    loader: "ts",
    format: "esm",
    supported: { "top-level-await": true },
  });
  const names = ["Session", "Reports", "host", "username", "password"];
  const run = new Function(...names, `return (async () => { ${code}; return { rows, points }; })()`);
  const { rows, points } = await run(Session, Reports, reportHost(undefined), USER.username, USER.password);
  t.true(rows === 1 || rows === 2);
  t.is(points, 3);
});
