// mote fleet --model: what it prints, and what it refuses.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { Recording } from "./recording.js";

test("a fleet is computed: a table, JSON, a picture; and what makes no sense is refused", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mote-model-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const recording = new Recording({});
  recording.mask(folder, "/home/operator");
  const svg = join(folder, "load.svg");
  const args = ["fleet", "--devices", "20", "--url", "https://platform.example.com", "--interval", "1m"];
  const model = [...args, "--model", "--for", "2h"];
  await recording.run([...model, "--svg", svg]);
  await recording.run([...model, "--json", "--connections", "3", "--outage", "5m", "--outage-after", "1h"]);
  await recording.run([
    ...model,
    "--connections",
    "1",
    "--poll-limit",
    "50s",
    "--batch-age",
    "10m",
    "--point-bytes",
    "100",
  ]);
  await recording.run([...model, "--poll-limit", "10s"]);
  await recording.run([...model, "--outage", "2h"]);
  await recording.run([...model, "--svg", join(folder, "none", "load.svg")]);
  await recording.run([...args, "--svg", svg]);
  await recording.run([...args, "--point-bytes", "100"]);
  const drawn = readFileSync(svg, "utf8");
  t.is(drawn.split('class="line"').length - 1, 8);
  t.regex(drawn, /<title>20 devices, a point every 1 min, 3 connections, https, started over /);
  recording.compare(t, "fleet-model");
});
