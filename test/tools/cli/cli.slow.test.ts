// The command line, in processes of its own.
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import test from "ava";
import * as EXIT from "../../../hosts/node/exit.js";
import { CRASHES, image } from "../run/images.js";
import { temporaryState } from "../run/session.js";
import { killAll, launch, mote, processOutput } from "./commands.js";

/** A file that is there, and holds no certificate. */
const NO_PEM = process.argv[1] ?? "";
const SECRETS = { MOTE_PROVISION_KEY: "the-key-of-a-test", MOTE_PROVISION_SECRET: "the-secret-of-a-test" };

test.after.always(killAll);

/** A platform that answers each request with this status. Returns its address. */
async function answering(t: { teardown(work: () => void): void }, status: number): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end());
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test.serial("wrong usage ends with exit code 2, and the nearest name is proposed", async (t) => {
  const wrong: [string[], RegExp][] = [
    [["rnu"], /unknown command 'rnu'[\s\S]*Did you mean run\?/],
    [["run", "--stat", "x"], /unknown option '--stat'[\s\S]*Did you mean --state\?/],
    [["run", "--connections", "4"], /'4' is invalid[\s\S]*1, 2, 3/],
    [["run", "--interval", "soon"], /duration such as 500ms/],
    [["platform", "--port", "70000"], /0 to 65535/],
    [["platform", "--tls-cert", "x"], /require each other/],
    [["platform", "--tls-cert", NO_PEM, "--tls-key", NO_PEM], /--tls-cert contains no certificate/],
    [
      ["run", "--url", "https://x", "--token", "t", "--state", "x", "--ca", NO_PEM],
      /--ca contains no certificate/,
    ],
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

test.serial("all that run lacks is reported at once", async (t) => {
  const { code, err } = await mote(["run"]);
  t.is(code, 2);
  for (const name of ["--url", "--state", "--token"]) t.true(err.includes(name), name);
});

test.serial("what the agent refuses is reported as wrong usage, without the value", async (t) => {
  const state = temporaryState(t);
  const { code, err } = await mote([
    "run",
    "--url",
    "ftp://x",
    "--token",
    "a token/with ?",
    "--state",
    state,
  ]);
  t.is(code, 2);
  t.regex(err, /--url must be a string that begins with http/);
  t.regex(err, /token is invalid: /);
  t.false(err.includes("a token/with"));
});

test.serial("each host of --firmware-host is looked at, however often it is given", async (t) => {
  const given = (...hosts: string[]) => hosts.flatMap((host) => ["--firmware-host", host]);
  // A port that nothing has: what is right ends at once all the same, as the state directory is a file.
  const basics = ["run", "--url", "http://127.0.0.1:1", "--token", "t", "--state", NO_PEM];
  const wrong = await mote([...basics, ...given("files.example.com", "https://files.example.com")]);
  t.is(wrong.code, 2);
  t.regex(wrong.err, /--firmware-host must list hosts in lower case/);
  const right = await mote([...basics, ...given("files.example.com", "10.0.0.7:8443")]);
  t.notRegex(right.err, /--firmware-host/);
  t.regex(right.err, /cannot use the state directory/);
});

test.serial("help and version end with exit code 0", async (t) => {
  const help = await mote(["run", "--help"]);
  t.is(help.code, 0);
  for (const word of ["--url", "MOTE_PROVISION_SECRET", "--allow-http-firmware", "Example:"]) {
    t.true(help.out.includes(word), word);
  }
  const version = await mote(["--version"]);
  t.is(version.code, 0);
  t.regex(version.out, /^\d+\.\d+\.\d+\n$/);
});

test.serial("the help names every exit code that there is", async (t) => {
  const { out } = await mote(["--help"]);
  const named = [...out.slice(out.indexOf("Exit codes:")).matchAll(/\d+/g)].map(([code]) => Number(code));
  // RESTART and RESET are between the worker and its own starter.
  const { RESTART: _, RESET: __, ...codes } = EXIT;
  t.deepEqual(
    named,
    Object.values(codes).sort((one, other) => one - other),
  );
});

test.serial(
  "run: settings come from the environment, offline is reported once, SIGTERM stops with 0, no secret shows",
  async (t) => {
    const state = temporaryState(t);
    const child = launch(["run", "--log", "json"], {
      ...SECRETS,
      MOTE_URL: "http://127.0.0.1:1",
      MOTE_STATE: state,
    });
    const eventLog = processOutput(child);
    await eventLog.until(({ events }) => events.some(({ event }) => event === "offline"));
    child.kill("SIGTERM");
    t.deepEqual(await once(child, "close"), [0, null]);
    t.is(eventLog.events.filter(({ event }) => event === "offline").length, 1);
    t.is(eventLog.events.at(-1)?.event, "stopped");
    t.true(eventLog.events.every(({ ts }) => typeof ts === "number"));
    const shown = JSON.stringify(eventLog.events);
    for (const secret of Object.values(SECRETS)) t.false(shown.includes(secret));
    t.true(readdirSync(state).includes("run.lease.1"), "it is still held");
  },
);

test.serial("run: refused by the platform it ends with 3, if asked to", async (t) => {
  const url = await answering(t, 401);
  const args = ["run", "--url", url, "--state", temporaryState(t), "--exit-on-refusal", "--log", "json"];
  const { code, out } = await mote(args, { MOTE_TOKEN: "the-token-of-a-test" });
  t.is(code, 3);
  t.regex(out, /"event":"refused","what":"token"/);
  t.false(out.includes("the-token-of-a-test"));
});

test.serial("run: a file that is no image is reported, with exit code 2", async (t) => {
  const state = temporaryState(t);
  const app = join(state, "app.mjs");
  writeFileSync(app, "export const firmware = { title: 'x' };");
  const { code, out } = await mote([
    "run",
    "--url",
    "http://127.0.0.1:1",
    "--token",
    "t",
    "--state",
    state,
    "--app",
    app,
  ]);
  t.is(code, 2);
  t.regex(out, /the file given is no image.*firmware\.version is not a text/);
});

test.serial("run: a state directory that can't be made is reported, with exit code 1", async (t) => {
  const state = join(temporaryState(t), "file");
  writeFileSync(state, "");
  const { code, err } = await mote(["run", "--url", "http://x", "--token", "t", "--state", state]);
  t.is(code, 1);
  t.regex(err, /^error: cannot use the state directory: .*\n$/);
});

test.serial("run: the application that crashes is reported and tried again", async (t) => {
  const state = temporaryState(t);
  const app = join(state, "app.mjs");
  writeFileSync(app, image("1", CRASHES));
  const child = launch([
    "run",
    "--url",
    "http://127.0.0.1:1",
    "--token",
    "t",
    "--state",
    state,
    "--app",
    app,
    "--log",
    "json",
  ]);
  const eventLog = processOutput(child);
  await eventLog.until(({ starts }) => starts.length === 2);
  child.kill("SIGINT");
  t.deepEqual(await once(child, "close"), [0, null]);
  const crash = eventLog.events.find(({ event }) => event === "crash");
  t.regex(String(crash?.reason), /^Error: it crashes/);
  t.is(crash?.retryMs, 1000);
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
  const child = launch([
    "run",
    "--url",
    "http://127.0.0.1:1",
    "--token",
    "t",
    "--state",
    state,
    "--app",
    app,
  ]);
  if (child.stdout) await once(child.stdout, "data");
  child.stdout?.destroy();
  const count = (): number => (existsSync(file) ? (readFileSync(file)[0] ?? 0) : 0);
  const file = join(state, "store", "n.bin");
  for (let n = 0; n < 200 && count() < 8; n++) await new Promise((resolve) => setTimeout(resolve, 50));
  t.true(count() >= 8);
  child.kill("SIGTERM");
  t.deepEqual(await once(child, "close"), [0, null]);
});

for (const given of [true, false]) {
  const keys = given ? "no key that was given" : "the provisioning key";
  test.serial(
    `platform: the address comes first, then logins and ${keys}; SIGTERM stops with 0`,
    async (t) => {
      const child = launch(["platform", "--no-state", "--port", "0"], given ? SECRETS : {});
      let out = "";
      child.stdout?.on("data", (text) => {
        out += text;
      });
      if (child.stdout) await once(child.stdout, "data");
      child.kill("SIGTERM");
      t.deepEqual(await once(child, "close"), [0, null]);
      const [first] = out.split("\n");
      t.regex(first ?? "", /http:\/\/127\.0\.0\.1:\d+$/);
      t.true(out.includes("tenant@thingsboard.org / tenant"));
      t.regex(out, given ? /provisioning key +as given\n/ : /provisioning key +\w{10,}\n/);
      t.regex(out, given ? /provisioning secret +as given\n/ : /provisioning secret +\w{10,}\n/);
      for (const secret of Object.values(SECRETS)) t.false(out.includes(secret));
    },
  );
}
