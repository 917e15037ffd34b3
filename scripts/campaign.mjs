// node scripts/campaign.mjs NAME [OPTION...]: runs a campaign that is too long for the tests (docs/testing.md). Without a name it lists them.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { buildAll } from "./build.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));

/** A program, or test files that AVA runs with `args` given to the tests. */
const CAMPAIGNS = {
  faults: { program: "test/simulation/command.ts", does: "simulates faults, restarts and clock jumps" },
  "sleep-cycles": {
    program: "test/simulation/sleep-cycle/command.ts",
    does: "simulates months of a sleeping device",
  },
  "power-loss": {
    program: "test/power-loss/run.ts",
    does: "cuts the power at every write, alone and in pairs",
  },
  removals: {
    program: "test/removals/command.ts",
    does: "removes one safeguard at a time: a test or a power loss must show it",
  },
  fuzz: { program: "test/fuzz/fuzz.ts", does: "gives damaged documents to every parser" },
  chip: { program: "test/chip/command.ts", does: "checks a board's promises on an emulated chip" },
  bench: { program: "bench/command.ts", does: "measures exact figures: traffic, XS steps and slots" },
  "bench-chip": { program: "bench/chip/command.ts", does: "counts instructions on the emulated chip" },
  fleet: { program: "test/tools/fleet/command.ts", does: "runs many agents against a platform" },
  platform: {
    files: ["test/end-to-end/device.slow.test.ts"],
    does: "runs the agent against the server of MOTE_PLATFORM_URL",
  },
  simulator: {
    files: ["test/hosts/simulator/*.test.ts"],
    args: ["--simulator"],
    serial: true,
    does: "checks the host and a project in the Moddable simulator ($MODDABLE)",
  },
};

const [name, ...words] = process.argv.slice(2);
const campaign = CAMPAIGNS[name];

if (!campaign) {
  for (const [name, { does }] of Object.entries(CAMPAIGNS)) console.log(`${name.padEnd(14)} ${does}`);
  process.exit(name === undefined ? 0 : 2);
}

function run(program, args, more = {}) {
  const env = { ...process.env, NODE_OPTIONS: `--import=${import.meta.resolve("tsx")}`, ...more };
  const { status } = spawnSync(program, args, { cwd: root, env, stdio: "inherit" });
  return status ?? 1;
}

await buildAll();
if (campaign.program) process.exitCode = run(process.execPath, [campaign.program, ...words]);
else {
  const ava = ["node_modules/ava/entrypoints/cli.mjs", "--timeout", "10m"];
  if (campaign.serial) ava.push("--concurrency", "1");
  process.exitCode = run(process.execPath, [
    ...ava,
    ...campaign.files,
    "--",
    ...(campaign.args ?? []),
    ...words,
  ]);
}
