// `npx ava test/FILE.test.ts` runs one file. `npm test` and `npm run test:all` run scripts/test.mjs.
import { buildTools } from "./scripts/build.mjs";

// Tests read the built console and start the tour's images. Nothing is built if no source changed.
await buildTools();

const SLOW = "!test/**/*.slow.test.ts";
/** The slow tests run these samples in full. */
const SAMPLES = "!test/**/sample{,-board}.test.ts";
const LEFT_OUT = { quick: [SLOW], all: [SAMPLES] };

export default {
  files: ["test/**/*.test.ts", ...(LEFT_OUT[process.env.MOTE_TESTS] ?? [])],
  extensions: { ts: "module" },
  // NODE_OPTIONS reaches the processes that tests start, too.
  environmentVariables: { NODE_OPTIONS: `--import=${import.meta.resolve("tsx")}` },
  require: ["./test/seed.ts"],
  nodeArguments: ["--max-semi-space-size=64"],
  timeout: "3m",
  workerThreads: false,
};
