// The local platform's table views and their limits on the command line, in processes of their own.
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { killAll, launch, mote, processOutput } from "./commands.js";

test.after.always(killAll);

const VIEW = "3f2504e0-4f89-41d3-9a0c-0305e82c3301";

test.serial(
  "platform: views of a file are listed and served, with the limits of the environment",
  async (t) => {
    const at = mkdtempSync(join(tmpdir(), "mote-views-"));
    t.teardown(() => rmSync(at, { recursive: true }));
    const file = join(at, "views.json");
    const columns = [{ label: "n", column: "count", key: "t" }];
    writeFileSync(file, JSON.stringify([{ id: VIEW, name: "Counts", columns }]));
    const limits = {
      SIMPLE_API_RATE_LIMITER_QUEUE_CAPACITY: "0",
      SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE: "1",
    };
    const args = [
      "platform",
      "--no-state",
      "--port",
      "0",
      "--log",
      "json",
      "--views",
      file,
      "--report-time",
      "1h",
    ];
    const child = launch(args, limits);
    const eventLog = processOutput(child);
    await eventLog.until(({ events }) => events.length === 1);
    const { url, views } = eventLog.events[0] as unknown as { url: string; views: unknown };
    t.deepEqual(views, [{ id: VIEW, name: "Counts" }]);
    const post = async (path: string, body: object, jwt = ""): Promise<Response> =>
      fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", jwt },
        body: JSON.stringify(body),
      });
    const login = await post("/api/auth/login", { username: "tenant@thingsboard.org", password: "tenant" });
    const { token } = (await login.json()) as { token: string };
    const ask = (): Promise<number> =>
      post("/apiAnalytics/publicApi/buildReport", { viewConfigId: VIEW }, token).then(({ status }) => status);
    // One runs for an hour, whichever of the two it is; the other has no place to wait in.
    t.is(await Promise.race([ask(), ask()]), 429);
    // What is under way would end first: an hour. A second signal waits for nothing.
    child.kill("SIGTERM");
    await new Promise((go) => setTimeout(go, 500));
    child.kill("SIGTERM");
    t.deepEqual(await once(child, "close"), [0, null]);
  },
);

test.serial("platform: views and limits that make no sense are wrong usage", async (t) => {
  const at = mkdtempSync(join(tmpdir(), "mote-views-"));
  t.teardown(() => rmSync(at, { recursive: true }));
  const file = join(at, "views.json");
  writeFileSync(file, '[{"name":"x","columns":[]}]');
  const wrong: [string[], Record<string, string>, RegExp][] = [
    [["--views", file], {}, /view 1: it has 1 to 100 columns/],
    [["--views", join(at, "none")], {}, /can't be read \(ENOENT\)/],
    [
      [],
      { SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE: "0" },
      /SIMPLE_API_RATE_LIMITER_THREAD_POOL_SIZE is a whole number from 1 on/,
    ],
  ];
  for (const [args, env, message] of wrong) {
    const { code, err } = await mote(["platform", "--no-state", "--port", "0", ...args], env);
    t.is(code, 2);
    t.regex(err, message);
  }
});
