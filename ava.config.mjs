// How the tests run. `npx ava dist/test/FILE.js` runs one file; scripts/test.mjs, behind `npm test` and `npm run test:all`, many.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `quick`: all but the *.slow.test.ts. `slow`: those. Undefined: what the command line names. */
const { MOTE_TEST_RUN: run } = process.env;

/**
 * The start of a process costs as much as most test files, so the quick ones share some: the first that fits takes a file.
 * Hooks of one file hold for the whole process, so files that have some are among their own kind.
 */
const SHARED = [
  ["rest", /^platform\/rest/],
  ["nock", /^operator\/(calls|ota|rest)\./],
  ["platform", /^platform\//],
  ["agent", /^agent\//],
  ["board", /^(esp32|commission|app)\//],
  ["parts", /^(wire|net|port|strategies|diagnostics|report|model|x509|house|bench)\//],
  ["desk", /^(operator|doctor|fleet|desk|node|firmware)\//],
];
/** What awaits before it declares its tests can't share a process, nor can who answers for Node's HTTP. */
const ALONE = /^(?! ).*\bawait |from "nock"/m;

/** Those that take longest begin first, in this order: one that began last would have the machine to itself in the end. */
const LONG = [
  ...[
    "cut/firmware",
    "xs/long",
    "fuzz/fuzz",
    "console/console",
    "node/supervisor",
    "node/reset",
    "node/report",
  ],
  ...[
    "e2e/ahead",
    "node/killed",
    "node/recovery",
    "desk/start",
    "faults/",
    "cycle/",
    "cut/",
    "e2e/",
    "node/",
  ],
];

const at = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Writes a file for each shared process that imports the tests it runs; returns what AVA is to look for. */
function quick() {
  const processes = at("dist/processes/");
  rmSync(processes, { recursive: true, force: true });
  mkdirSync(processes, { recursive: true });
  const imports = {};
  const files = readdirSync(at("dist/test"), { recursive: true }).filter((file) => file.endsWith(".test.js"));
  const alone = files
    .filter((file) => !file.endsWith(".slow.test.js"))
    .sort()
    .filter((file) => {
      const [name] = SHARED.find(([, fits]) => fits.test(file)) ?? [];
      const text = readFileSync(at(`dist/test/${file}`), "utf8");
      if (name === undefined || (name !== "nock" && ALONE.test(text))) return true;
      imports[name] = `${imports[name] ?? ""}import "../test/${file}";\n`;
      return false;
    });
  for (const [name, text] of Object.entries(imports)) writeFileSync(`${processes}${name}.js`, text);
  return ["dist/processes/*.js", ...alone.map((file) => `dist/test/${file}`)];
}

const FILES = { quick, slow: () => ["dist/test/**/*.slow.test.js"] };

const place = (file) => {
  const index = LONG.findIndex((begin) => file.includes(`/test/${begin}`));
  return index < 0 ? LONG.length : index;
};

export default {
  files: FILES[run]?.() ?? ["dist/test/**/*.test.js"],
  require: ["./dist/test/seed.js", "./dist/test/cost.js"],
  nodeArguments: ["--enable-source-maps"],
  timeout: "3m",
  concurrency: 4,
  // In the quick ones hardly anything waits: one test after the other is no slower, and none has its deadlines run out behind another's work.
  serial: run === "quick",
  workerThreads: false,
  sortTestFiles: (one, other) => place(one) - place(other) || (one < other ? -1 : 1),
};
