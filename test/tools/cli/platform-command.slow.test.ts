// The stand-in's options on the command line, in processes of its own.
import { once } from "node:events";
import test from "ava";
import { killAll, launch, mote, storyOf } from "./commands.js";

test.after.always(killAll);

test.serial("platform: limits and times given on the command line hold", async (t) => {
  const limits = ["--rate-limit", "device-telemetry=1:600", "--rate-limit", "device-points=3:600"];
  const times = ["--async-cap", "50ms", "--request-timeout", "20ms", "--lag", "1h"];
  const child = launch(["platform", "--port", "0", "--log", "json", "--as", "deployed", ...limits, ...times]);
  const story = storyOf(child);
  await story.until(({ events }) => events.length === 1);
  const { url, provisionKey, provisionSecret } = story.events[0] as unknown as Record<string, string>;
  const request = async (path: string, body?: object): Promise<[number, string]> => {
    const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const response = await fetch(`${url}/api/v1/${path}`, init);
    return [response.status, await response.text()];
  };
  const proposed = { provisionDeviceKey: provisionKey, provisionDeviceSecret: provisionSecret, token: "own" };
  t.is((await request("provision", proposed))[0], 200);
  t.deepEqual(await request("own/telemetry", { a: 1, b: 2, c: 3, d: 4 }), [500, ""]);
  t.deepEqual(await request("own/rpc"), [408, ""]);
  t.is((await request("own/rpc?timeout=1000"))[0], 503);
  t.deepEqual(await request("own/attributes"), [200, "{}"]);
  child.kill("SIGTERM");
  t.deepEqual(await once(child, "close"), [0, null]);
});

test.serial("platform: wrong limits and times are told as wrong usage", async (t) => {
  const wrong: [string[], RegExp][] = [
    [["--rate-limit", "points=1:1"], /begins with one of tenant-messages/],
    [["--rate-limit", "device-points=1"], /tokens:seconds/],
    [["--async-cap", "soon"], /duration like 500ms/],
    [["--lag", "-1s"], /duration like 500ms/],
  ];
  await Promise.all(
    wrong.map(async ([args, expected]) => {
      const { code, err } = await mote(["platform", ...args]);
      t.is(code, 2, args.join(" "));
      t.regex(err, expected);
    }),
  );
});

test.serial(
  "platform: a key and secret that were given are not repeated, those made up are told",
  async (t) => {
    const given = { MOTE_PROVISION_KEY: "given-key", MOTE_PROVISION_SECRET: "given-secret" };
    for (const [env, told] of [
      [given, "as given"],
      [{}, ""],
    ] as const) {
      const child = launch(["platform", "--port", "0"], env);
      let out = "";
      child.stdout?.on("data", (data) => {
        out += data;
        if (out.includes("Ctrl-C")) child.kill("SIGTERM");
      });
      t.deepEqual(await once(child, "close"), [0, null]);
      t.notRegex(out, /given-/);
      t.regex(out, new RegExp(`provisioning secret  ${told || "[A-Za-z0-9]{20}"}\n`));
    }
  },
);
