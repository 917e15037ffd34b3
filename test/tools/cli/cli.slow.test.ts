// The command line, in processes of its own.
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import * as EXIT from "../../../tools/exit-codes.js";
import { image } from "../run/images.js";
import { temporaryState } from "../run/session.js";
import { until } from "../until.js";
import { end, killAll, launch, mote, processOutput } from "./commands.js";

/** A file that is there, and holds no certificate. */
const NO_PEM = process.argv[1] ?? "";
const SECRETS = { MOTE_PROVISION_KEY: "the-key-of-a-test", MOTE_PROVISION_SECRET: "the-secret-of-a-test" };

test.after.always(killAll);

/** A device whose platform is not there: nothing listens at this port. */
const RUN = ["run", "--url", "http://127.0.0.1:1", "--token", "t"];

test.serial("wrong usage ends with exit code 2, and the nearest name is proposed", async (t) => {
  const wrong: [string[], RegExp][] = [
    [["rnu"], /unknown command 'rnu'[\s\S]*Did you mean run\?/],
    [["run", "--stat", "x"], /unknown option '--stat'[\s\S]*Did you mean --state\?/],
    [["run", "--connections", "4"], /'4' is invalid[\s\S]*1, 2, 3/],
    [["run", "--interval", "soon"], /duration such as 500ms/],
    [["platform", "--port", "70000"], /0 to 65535/],
    [["platform", "--admin-password", "sysadmin"], /not a default password/],
    [["platform", "--admin-password", "short"], /at least 8 characters/],
    [["platform", "--tls-cert", "x"], /require each other/],
    [["platform", "--tls-cert", NO_PEM, "--tls-key", NO_PEM], /--tls-cert contains no certificate/],
    [
      ["run", "--url", "https://x", "--token", "t", "--state", "x", "--ca", NO_PEM],
      /--ca contains no certificate/,
    ],
    [["run"], /^(?=[\s\S]*--url)(?=[\s\S]*--state)(?=[\s\S]*--token)/],
    [[], /Usage: mote/],
  ];
  await Promise.all(
    wrong.map(async ([args, expected]) => {
      const { code, err, out } = await mote(args);
      t.is(code, 2, args.join(" "));
      t.regex(err, expected);
      t.is(out, "");
    }),
  );
});

test.serial("reports options that the agent refuses, without their values", async (t) => {
  const state = temporaryState(t);
  const args = ["run", "--url", "ftp://x", "--token", "a token/with ?", "--state", state];
  const { code, err } = await mote(args);
  t.is(code, 2);
  t.regex(err, /--url must be a string that begins with http/);
  t.regex(err, /token is invalid: /);
  t.false(err.includes("a token/with"));
});

test.serial("the version is a number, and the help names every exit code that there is", async (t) => {
  t.regex((await mote(["--version"])).out, /^\d+\.\d+\.\d+\n$/);
  const { code, out } = await mote(["--help"]);
  t.is(code, 0);
  const named = [...out.slice(out.indexOf("Exit codes:")).matchAll(/\d+/g)].map(([code]) => Number(code));
  const { ...codes } = EXIT;
  t.deepEqual(
    named,
    Object.values(codes).sort((one, other) => one - other),
  );
});

test.serial("run takes settings from the environment and shows no secret", async (t) => {
  const state = temporaryState(t);
  const child = launch(["run", "--json"], {
    ...SECRETS,
    MOTE_URL: "http://127.0.0.1:1",
    MOTE_STATE: state,
  });
  const eventLog = processOutput(child);
  await eventLog.first("offline");
  t.is(await end(child), 0);
  t.is(eventLog.named("offline").length, 1);
  t.is(eventLog.events.at(-1)?.event, "stopped");
  t.true(eventLog.events.every(({ ts }) => typeof ts === "number"));
  const shown = JSON.stringify(eventLog.events);
  for (const secret of Object.values(SECRETS)) t.false(shown.includes(secret));
  t.false(
    readdirSync(state).some((name) => name.startsWith("run.lock")),
    "it is still held",
  );
});

test.serial("run: goes on when nobody reads its lines any more", async (t) => {
  const state = temporaryState(t);
  const app = join(state, "app.mjs");
  writeFileSync(
    app,
    image(
      "1",
      `let n = 0; setInterval(() => { console.log("line"); host.store.set("n", Uint8Array.of(n++)); }, 50);`,
    ),
  );
  const child = launch([...RUN, "--state", state, "--app", app]);
  if (child.stdout) await once(child.stdout, "data");
  child.stdout?.destroy();
  const file = join(state, "store", "n.bin");
  await until(() => existsSync(file) && (readFileSync(file)[0] ?? 0) >= 8);
  t.is(await end(child), 0);
});
