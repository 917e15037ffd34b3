#!/usr/bin/env node
// In the package the command is built; in a clone it is built here, if a source changed.
import { existsSync } from "node:fs";

/** Commands that build for a board or the simulator need the board modules as well. */
const FOR_BOARDS = ["esp32", "new", "simulator"];

const packed = new URL("../dist/tools/cli/cli.js", import.meta.url);
if (existsSync(packed)) await import(packed.href);
else {
  const { buildBoards, buildTools } = await import(new URL("../../scripts/build.mjs", import.meta.url).href);
  await buildTools();
  if (FOR_BOARDS.includes(process.argv[2])) await buildBoards();
  await import(new URL("../../dist/tools/cli/cli.js", import.meta.url).href);
}
