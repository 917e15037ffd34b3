import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { readConfig } from "../../../hosts/esp32/config.js";
import { isIncomplete } from "../../../hosts/shared/commissioning/built-in-configuration.js";
import { newProject } from "../../../tools/cli/commands/new.js";
import { PROJECT } from "../../../tools/moddable/sdk.js";

const place = mkdtempSync(join(tmpdir(), "mote-new-"));
test.after.always(() => rmSync(place, { recursive: true }));
const text = (folder: string, name: string): string => readFileSync(join(place, folder, name), "utf8");

test("a new project has a manifest, its secrets, a main of a dozen lines, and keeps the secrets out of git", (t) => {
  newProject(join(place, "greenhouse"));
  t.deepEqual(readdirSync(join(place, "greenhouse")).sort(), [
    ".gitignore",
    "main.ts",
    "manifest.json",
    "secrets.json",
  ]);
  t.true(text("greenhouse", ".gitignore").split("\n").includes("secrets.json"));
  t.true(text("greenhouse", "main.ts").trimEnd().split("\n").length <= 12);
  t.is(statSync(join(place, "greenhouse", "secrets.json")).mode & 0o077, 0);
  t.notRegex(text("greenhouse", "manifest.json"), /secret":|password|ssid/);
});

test("its manifest includes the project's and names what the firmware is", (t) => {
  newProject(join(place, "lamp"));
  const { build, include, platforms, config } = JSON.parse(text("lamp", "manifest.json"));
  t.is(join(build["MOTE ?="]), join(PROJECT, "."));
  t.deepEqual(include, [
    "$(MOTE)/hosts/manifest.json",
    "$(MOTE)/hosts/shared/commissioning/manifest.json",
    "./secrets.json",
  ]);
  t.deepEqual(platforms.esp32.preload, ["main"]);
  t.deepEqual(config.firmware, { title: "lamp", version: "1.0.0" });
});

test("once the secrets are filled in the configuration is good; until then a board asks its owner", (t) => {
  newProject(join(place, "fan"));
  const config = {
    ...JSON.parse(text("fan", "manifest.json")).config,
    ...JSON.parse(text("fan", "secrets.json")).config,
  };
  t.true(isIncomplete(config));
  t.true(isIncomplete({ ...config, wifi: { ssid: "home" } }));
  const filled = { ...config, wifi: { ssid: "home" }, provisioning: { key: "k", secret: "s" } };
  t.false(isIncomplete(filled));
  t.false(Array.isArray(readConfig(filled)));
});

test("a folder that is not empty, or is a file, is refused and left as it is", (t) => {
  mkdirSync(join(place, "full"));
  writeFileSync(join(place, "full", "mine.txt"), "mine");
  t.throws(() => newProject(join(place, "full")), { message: /is not empty/ });
  t.deepEqual(readdirSync(join(place, "full")), ["mine.txt"]);
  t.throws(() => newProject(join(place, "full", "mine.txt")), { message: /is no folder/ });
});

test("an empty folder is as good as none", (t) => {
  mkdirSync(join(place, "empty"));
  t.is(newProject(join(place, "empty")).length, 4);
});
