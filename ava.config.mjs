// How the tests run. `npx ava dist/test/FILE.js` runs one file; scripts/test.mjs, behind `npm test` and `npm run test:all`, many.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** `quick`: all but the *.slow.test.ts. `slow`: those. Undefined: what the command line names. */
const { MOTE_TEST_RUN: run, MOTE_TEST_ALL: isAll } = process.env;
/** What the slow tests run in full. */
const SAMPLES = /(^|\/)sample(-board)?\.test\.js$/;

/** The start of a process costs as much as most test files, so those that all happen in memory share some: the first that fits takes a file. */
const SHARED = [
  ["platform", /^tools\/platform\//],
  ["agent", /^src\/agent\//],
  ["board", /^(hosts\/(esp32|shared\/commissioning)|tools\/moddable|examples)\//],
  ["parts", /^(src\/(?!agent\/)|hosts\/(port|shared\/x509)\/|(architecture|bench)\/)/],
  ["tools", /^(tools\/(cli|operator|doctor|fleet|tour|console\/model)|hosts\/node)\//],
  ["xs", /^xs\//],
];
/** Its tests run one after the other, and what builds a board's modules does so in half the time once it is warm. */
const IN_TURN = ["xs"];
/**
 * What awaits before it declares its tests can't share a process. What speaks over sockets or starts processes does not either: AVA begins all
 * tests of a process at once, and their deadlines would run out behind one another's work.
 */
const ALONE =
  /^(?! ).*\bawait |from "(nock|node:(child_process|net|tls|https?)|.*\/(platform\/server|wire|rest-rig|commands)\.js|\.\/session\.js)"/m;

/** Those that take longest begin first, in this order: one that began last would have the machine to itself in the end. */
const LONG = [
  ...[
    "processes/xs",
    "processes/agent",
    "power-loss/suites/firmware",
    "xs/long",
    "fuzz/fuzz",
    "tools/console/",
    "hosts/node/supervisor",
    "hosts/node/reset",
    "tools/cli/report",
  ],
  ...[
    "end-to-end/ahead",
    "hosts/node/killed",
    "hosts/node/recovery",
    "tools/tour/start",
    "simulation/",
    "power-loss/",
    "end-to-end/",
    "hosts/node/",
    "tools/cli/",
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
    .filter((file) => !file.endsWith(".slow.test.js") && !(isAll && SAMPLES.test(file)))
    .sort()
    .filter((file) => {
      const [name] = SHARED.find(([, fits]) => fits.test(file)) ?? [];
      const text = readFileSync(at(`dist/test/${file}`), "utf8");
      if (name === undefined || (!IN_TURN.includes(name) && ALONE.test(text))) return true;
      imports[name] = `${imports[name] ?? ""}import "../test/${file}";\n`;
      return false;
    });
  for (const [name, text] of Object.entries(imports)) writeFileSync(`${processes}${name}.js`, text);
  return ["dist/processes/*.js", ...alone.map((file) => `dist/test/${file}`)];
}

const FILES = { quick, slow: () => ["dist/test/**/*.slow.test.js"] };

const place = (file) => {
  const index = LONG.findIndex((begin) => file.includes(`/${begin}`));
  return index < 0 ? LONG.length : index;
};

export default {
  files: FILES[run]?.() ?? ["dist/test/**/*.test.js"],
  require: ["./dist/test/seed.js", "./dist/test/cost.js"],
  nodeArguments: ["--enable-source-maps", "--max-semi-space-size=64"],
  // Nothing that ends for so long hangs; what shares a process comes to its end together.
  timeout: run ? "10m" : "3m",
  concurrency: 4,
  workerThreads: false,
  sortTestFiles: (one, other) => place(one) - place(other) || (one < other ? -1 : 1),
};
