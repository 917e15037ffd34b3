// `npx ava test/FILE.test.ts` runs one file; arguments for its tests come after `--` (docs/testing.md).
import { statSync } from "node:fs";
import { buildTools } from "./scripts/build.mjs";

// Tests read the built console and start the tour's images. Nothing is built if no source changed.
await buildTools();

export default {
  files: ["test/**/*.test.ts", "bench/**/*.test.ts"],
  extensions: { ts: "module" },
  // NODE_OPTIONS reaches the processes that tests start, too. A debugger brings options of its own.
  environmentVariables: {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${import.meta.resolve("tsx")}`,
  },
  require: ["./test/seed.ts"],
  nodeArguments: ["--max-semi-space-size=64"],
  timeout: "3m",
  workerThreads: false,
  sortTestFiles: (one, longer) => statSync(longer).size - statSync(one).size,
};
