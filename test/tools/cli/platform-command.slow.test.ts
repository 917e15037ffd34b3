// The local platform's options on the command line, in processes of its own.
import { once } from "node:events";
import { stripVTControlCharacters } from "node:util";
import test from "ava";
import { qrCode } from "../../../tools/cli/commands/platform/greeting.js";
import { isLoopback, passwordFor, reachable } from "../../../tools/cli/commands/platform/network.js";
import { killAll, launch, mote, processOutput } from "./commands.js";

test.after.always(killAll);

const KEYS = { MOTE_PROVISION_KEY: "given-key", MOTE_PROVISION_SECRET: "given-secret" };

test.serial("platform: limits and times given on the command line hold", async (t) => {
  const limits = ["--rate-limit", "device-telemetry=1:600", "--rate-limit", "device-points=3:600"];
  const times = ["--async-cap", "50ms", "--request-timeout", "20ms", "--lag", "1h"];
  const args = ["platform", "--no-state", "--port", "0", "--log", "json", ...limits, ...times];
  const child = launch(args, KEYS);
  const eventLog = processOutput(child);
  await eventLog.until(({ events }) => events.length === 1);
  const { url } = eventLog.events[0] as unknown as Record<string, string>;
  const request = async (path: string, body?: object): Promise<[number, string]> => {
    const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const response = await fetch(`${url}/api/v1/${path}`, init);
    return [response.status, await response.text()];
  };
  const proposed = { provisionDeviceKey: "given-key", provisionDeviceSecret: "given-secret", token: "own" };
  t.is((await request("provision", proposed))[0], 200);
  t.deepEqual(await request("own/telemetry", { a: 1, b: 2, c: 3, d: 4 }), [500, ""]);
  t.deepEqual(await request("own/rpc"), [408, ""]);
  t.is((await request("own/rpc?timeout=1000"))[0], 503);
  t.deepEqual(await request("own/attributes"), [200, "{}"]);
  child.kill("SIGTERM");
  t.deepEqual(await once(child, "close"), [0, null]);
});

test.serial("platform: wrong limits and times are reported as wrong usage", async (t) => {
  const wrong: [string[], RegExp][] = [
    [["--rate-limit", "points=1:1"], /begins with one of tenant-messages/],
    [["--rate-limit", "device-points=1"], /tokens:seconds/],
    [["--async-cap", "soon"], /duration like 500ms/],
    [["--lag", "-1s"], /duration like 500ms/],
    [["--admin-password", "tenant"], /none that everybody knows/],
    [["--admin-password", "short"], /8 characters at least/],
  ];
  await Promise.all(
    wrong.map(async ([args, expected]) => {
      const { code, err } = await mote(["platform", "--no-state", ...args]);
      t.is(code, 2, args.join(" "));
      t.regex(err, expected);
    }),
  );
});

test.serial(
  "platform: a key and secret that were given are not repeated, those made up are shown",
  async (t) => {
    for (const [env, said] of [
      [KEYS, "as given"],
      [{}, ""],
    ] as const) {
      const child = launch(["platform", "--no-state", "--port", "0"], env);
      let out = "";
      child.stdout?.on("data", (data) => {
        out += data;
        if (out.includes("Ctrl-C")) child.kill("SIGTERM");
      });
      t.deepEqual(await once(child, "close"), [0, null]);
      t.notRegex(out, /given-/);
      t.regex(out, new RegExp(`provisioning secret  ${said || "[A-Za-z0-9]{20}"}\n`));
    }
  },
);

test.serial("platform: its JSON line holds no secret, made up or given", async (t) => {
  for (const env of [{}, KEYS]) {
    const child = launch(["platform", "--no-state", "--port", "0", "--json"], env);
    let out = "";
    child.stdout?.on("data", (data) => {
      out += data;
      if (out.includes("\n")) child.kill("SIGTERM");
    });
    t.deepEqual(await once(child, "close"), [0, null]);
    const members = JSON.parse(out) as Record<string, unknown>;
    t.is(members.event, "listening");
    t.is(members.provisionSecret, null);
    t.deepEqual(
      Object.keys(members).filter((name) => /secret|password/i.test(name)),
      ["provisionSecret"],
    );
    t.notRegex(out, /given-/);
  }
  const { code, err } = await mote(["platform", "--no-state", "--port", "0", "--host", "0.0.0.0", "--json"]);
  t.is(code, 2);
  t.is(err, "error: --log json prints no password: give one with --admin-password or MOTE_ADMIN_PASSWORD\n");
});

async function greetingOf(args: string[], env: Record<string, string> = {}): Promise<string> {
  const child = launch(["platform", "--no-state", "--port", "0", ...args], env);
  let out = "";
  child.stdout?.on("data", (data) => {
    out += data;
    if (out.includes("Ctrl-C")) child.kill("SIGTERM");
  });
  await once(child, "close");
  return out;
}

async function logsIn(url: string, name: string, password: string): Promise<boolean> {
  const body = JSON.stringify({ username: `${name}@thingsboard.org`, password });
  const headers = { "content-type": "application/json" };
  return (await fetch(`${url}/api/auth/login`, { method: "POST", headers, body })).status === 200;
}

test.serial("platform: it says once where its state is", async (t) => {
  const out = await greetingOf([]);
  t.regex(out, /^Local platform at http:\/\/127\.0\.0\.1:\d+\n/);
  t.is(out.split("it goes with this process (without --no-state it is kept)").length, 2);
  t.regex(out, /tenant@thingsboard\.org \/ tenant\n/);
  t.notRegex(out, /open to the network|for boards/);
});

test.serial(
  "platform: open to the network it names its addresses, and the well-known passwords don't hold",
  async (t) => {
    const own = { MOTE_ADMIN_PASSWORD: "of-my-own" };
    const args = ["platform", "--no-state", "--port", "0", "--host", "0.0.0.0", "--log", "json"];
    const child = launch(args, own);
    const eventLog = processOutput(child);
    await eventLog.until(({ events }) => events.length === 1);
    const { url, urls } = eventLog.events[0] as unknown as Record<string, string>;
    t.deepEqual(urls ?? [], reachable(String(url), "0.0.0.0"));
    for (const name of ["tenant", "customer", "sysadmin"]) {
      t.false(await logsIn(String(url), name, name));
      t.true(await logsIn(String(url), name, "of-my-own"));
    }
    child.kill("SIGTERM");
    await once(child, "close");
    t.regex(await greetingOf(["--host", "0.0.0.0"]), /tenant@thingsboard\.org \/ [A-Za-z0-9]{16}\n/);
    const out = await greetingOf(["--host", "0.0.0.0"], own);
    t.regex(out, /tenant@thingsboard\.org \/ as given\n/);
    t.regex(out, /open to the network\. The well-known passwords of a fresh server do not hold here/);
    t.notRegex(out, /of-my-own/);
  },
);

test("platform: a QR code is light on dark on any terminal with colours, and plain elsewhere", (t) => {
  const plain = qrCode("http://192.168.0.2:8080/", { isTTY: false, hasColors: () => true });
  t.true(plain.every((line) => /^[ █▀▄]+$/.test(line)));
  // Four modules of margin: two lines at the top.
  t.regex(plain.slice(0, 2).join(""), /^█+$/);
  const coloured = qrCode("http://192.168.0.2:8080/", { isTTY: true, hasColors: () => true });
  t.true(coloured.every((line) => line.startsWith("\u001b[97m\u001b[40m")));
  t.deepEqual(coloured.map(stripVTControlCharacters), plain);
  t.deepEqual(qrCode("http://192.168.0.2:8080/", { isTTY: true, hasColors: () => false }), plain);
});

test("platform: what is loopback, and which password holds", (t) => {
  for (const host of ["127.0.0.1", "127.9.9.9", "localhost", "::1"]) t.true(isLoopback(host), host);
  for (const host of ["0.0.0.0", "::", "192.168.0.2", "host.example"]) t.false(isLoopback(host), host);
  t.is(passwordFor({ host: "127.0.0.1" }), undefined);
  t.deepEqual(passwordFor({ host: "127.0.0.1", adminPassword: "of my own" }), {
    text: "of my own",
    isMadeUp: false,
  });
  t.not(passwordFor({ host: "::" })?.text, passwordFor({ host: "::" })?.text);
  t.deepEqual(reachable("http://192.168.0.2:8080", "192.168.0.2"), ["http://192.168.0.2:8080"]);
});

test.serial("platform: client-side RPCs are answered with --rule-chain alone", async (t) => {
  for (const more of [[], ["--rule-chain"]]) {
    const child = launch(
      ["platform", "--no-state", "--port", "0", "--log", "json", "--async-cap", "100ms", ...more],
      KEYS,
    );
    const eventLog = processOutput(child);
    await eventLog.until(({ events }) => events.length === 1);
    const { url } = eventLog.events[0] as unknown as Record<string, string>;
    const post = (path: string, body: object) =>
      fetch(`${url}/api/v1/${path}`, { method: "POST", body: JSON.stringify(body) });
    const keys = { provisionDeviceKey: "given-key", provisionDeviceSecret: "given-secret" };
    await (await post("provision", { ...keys, token: "own" })).text();
    const answer = await post("own/rpc", { method: "getCurrentTime", params: {} });
    t.is(answer.status, more.length > 0 ? 200 : 503);
    await answer.text();
    child.kill("SIGTERM");
    await once(child, "close");
  }
});
