// Judges the mutants of one folder of src: `node scripts/campaign.mjs mutants src/http`. Each mutant costs one run of the folder's fast test
// files. Stryker's command runner does that; its TAP runner sees no coverage of AVA's child processes and reports every mutant as NoCoverage.

/** The fast test files that must notice a mutant, by folder. The longest name that fits counts. */
const TESTS = {
  "src/agent": "test/src/agent/{agent,regressions}.test.ts",
  "src/agent/attributes": "test/src/agent/attributes/*.test.ts",
  "src/agent/firmware": "test/src/agent/firmware/**/*.test.ts",
  "src/agent/lifecycle": "test/src/agent/lifecycle/*.test.ts",
  "src/agent/options": "test/src/agent/options.test.ts",
  "src/agent/provisioning": "test/src/agent/provisioning/*.test.ts",
  "src/agent/queue": "test/src/agent/queue/**/*.test.ts",
  "src/agent/rpc": "test/src/agent/rpc/*.test.ts",
  "src/agent/telemetry": "test/src/agent/telemetry/*.test.ts",
  "src/agent/time": "test/src/agent/time.test.ts",
  "extras/diagnostics": "test/extras/diagnostics/*.test.ts",
  "src/http": "test/src/http/*.test.ts",
  "extras/log": "test/extras/log/*.test.ts",
  "src/platform": "test/src/platform/*.test.ts",
  "extras/report-on-change": "test/extras/report-on-change/*.test.ts",
  "src/wire": "test/src/wire/**/*.test.ts",
};

const { MUTATE: folder = "src/http" } = process.env;
const [name] = Object.keys(TESTS)
  .filter((one) => `${folder}/`.startsWith(`${one}/`))
  .sort((one, other) => other.length - one.length);
if (!name) throw new Error(`no tests for ${folder}; folders: ${Object.keys(TESTS).join(", ")}`);

export default {
  testRunner: "command",
  commandRunner: { command: `npx ava --fail-fast '${TESTS[name]}' '!**/*.slow.test.ts'` },
  mutate: folder.endsWith(".ts") ? [folder] : [`${folder}/**/*.ts`],
  ignorePatterns: ["dist", "build", ".mote", "docs"],
  // TypeScript 7 has no API for Stryker to rewrite the settings with; none need it.
  tsconfigFile: "none.json",
  concurrency: 2,
  timeoutMS: 30_000,
  tempDirName: "build/mutants",
  reporters: ["clear-text", "progress", "html"],
  htmlReporter: { fileName: "build/mutants.html" },
};
