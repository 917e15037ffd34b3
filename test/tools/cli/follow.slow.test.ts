// `mote telemetry --follow` beside its reader and a platform that goes away.

import { execFile } from "node:child_process";
import test from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { scratch } from "../scratch.js";
import { ScriptedDevice } from "../scripted-device.js";
import { until } from "../until.js";
import { CLI, end, killAll, launch, mote } from "./commands.js";
import { startRig } from "./operator-rig.js";

test.after.always(killAll);

const FOLLOW = ["telemetry", "pump-1", "--follow"];

test("telemetry --follow | head -3 ends when its reader does", async (t) => {
  const rig = await startRig(t);
  const pump = rig.device("pump-1");
  await pump.send("telemetry", { ts: 1_760_000_000_000, values: { b: 2, c: 3, d: 4 } });
  const live = setInterval(() => void pump.send("telemetry", { n: Date.now() }), 200);
  t.teardown(() => clearInterval(live));
  const line = `'${process.execPath}' '${CLI}' ${FOLLOW.join(" ")} | head -3; echo "exit \${PIPESTATUS[*]}"`;
  const env = { ...process.env, ...rig.env };
  const out = await new Promise<string>((resolve) => {
    execFile("bash", ["-c", line], { env, timeout: 60_000 }, (_error, out) => resolve(out));
  });
  t.regex(out, /^20\S+ \S+ {2}b = 2\n.*c = 3\n.*d = 4\nexit 0 0\n$/);
});

test("telemetry --follow shows each new value of its keys once, also over an outage", async (t) => {
  const rig = await startRig(t);
  const state = { directory: scratch() };
  let platform = await startPlatform({ port: 0, state });
  const { port } = platform.address;
  t.teardown(() => platform.close());
  const login = ["login", "--url", platform.url, "--username", "tenant@thingsboard.org"];
  await mote(login, { ...rig.env, MOTE_PLATFORM_PASSWORD: "tenant" });
  const pump = new ScriptedDevice(platform, "pump-1");
  await pump.send("telemetry", { ts: 1_760_000_000_000, values: { a: 1, b: 2 } });
  const child = launch([...FOLLOW, "a", "--json"], rig.env);
  const said = { out: "", err: "" };
  child.stdout?.on("data", (text) => (said.out += text));
  child.stderr?.on("data", (text) => (said.err += text));
  await until(() => said.out.includes('"a"'));
  await platform.close();
  await until(() => said.err.includes("No answer"));
  platform = await startPlatform({ port, state });
  await until(() => said.err.includes("answers again"));
  await pump.send("telemetry", { ts: 1_760_000_001_000, values: { a: 1, b: 3 } });
  await until(() => said.out.includes("1760000001000"));
  t.is(await end(child, "SIGINT"), 0);
  t.deepEqual(
    said.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line)),
    [
      { ts: 1_760_000_000_000, key: "a", value: 1 },
      { ts: 1_760_000_001_000, key: "a", value: 1 },
    ],
  );
  t.is(said.err, "No answer from the platform; retrying.\nThe platform answers again.\n");
});
