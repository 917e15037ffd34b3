#!/usr/bin/env node
// In the package the command is built; in a clone it is built here, if a source is newer.
import { existsSync } from "node:fs";

const packed = new URL("../dist/tools/cli/cli.js", import.meta.url);
if (existsSync(packed)) await import(packed.href);
else {
  await import(new URL("../../scripts/build.mjs", import.meta.url).href);
  await import(new URL("../../dist/tools/cli/cli.js", import.meta.url).href);
}
