// `mote watch` beside who reads it and a platform that goes away.

import { execFile } from "node:child_process";
import test from "ava";
import { startPlatform } from "../../../../tools/platform/server.js";
import { scratch } from "../../scratch.js";
import { ScriptedDevice } from "../../scripted-device.js";
import { until } from "../../until.js";
import { CLI, end, killAll, launch, mote } from "../commands.js";
import { startRig } from "./rig.js";

test.after.always(killAll);

/** With the exit code of each part of the pipe, and how long it took. */
function shell(line: string, env: Record<string, string>): Promise<{ out: string; ms: number }> {
  const began = performance.now();
  return new Promise((resolve) => {
    execFile("bash", ["-c", line], { env: { ...process.env, ...env } }, (_error, out, err) =>
      resolve({ out: out + err, ms: performance.now() - began }),
    );
  });
}

test("mote watch NAME | head -3 ends when its reader does", async (t) => {
  const rig = await startRig(t);
  const pump = rig.device("pump-1");
  const values = { b: 2, c: 3, d: 4 };
  await pump.send("telemetry", { ts: 1_760_000_000_000, values });
  const live = setInterval(() => void pump.send("telemetry", { n: Date.now() }), 200);
  t.teardown(() => clearInterval(live));
  const watch = `'${process.execPath}' '${CLI}' watch pump-1 --interval 100ms`;
  const { out, ms } = await shell(`${watch} 2>&1 | head -3; echo "exit \${PIPESTATUS[*]}"`, rig.env);
  rig.recording.add("mote watch pump-1 --interval 100ms 2>&1 | head -3", { code: 0, out, err: "" });
  t.true(ms < 60_000, `it took ${Math.round(ms)} ms`);
  rig.recording.compare(t, "watch-head");
});

test("watch shows each change of its keys once, over an outage, and leaks no listener", async (t) => {
  const rig = await startRig(t);
  const directory = scratch();
  const kept = { state: { directory } };
  let platform = await startPlatform({ port: 0, ...kept });
  const { port } = platform.address;
  t.teardown(() => platform.close());
  const login = ["login", "--url", platform.url, "--username", "tenant@thingsboard.org"];
  await mote(login, { ...rig.env, MOTE_PLATFORM_PASSWORD: "tenant" });
  const pump = new ScriptedDevice(platform, "pump-1");
  await pump.send("telemetry", { ts: 1_760_000_000_000, values: { a: 1, b: 2 } });
  const watch = ["watch", "pump-1", "--json", "--interval", "20ms", "--key", "a", "mode"];
  const child = launch(watch, rig.env);
  const said = { out: "", err: "" };
  child.stdout?.on("data", (text) => (said.out += text));
  child.stderr?.on("data", (text) => (said.err += text));
  await until(() => said.out.includes('"a"'));
  await platform.close();
  await until(() => said.err.includes("No answer"));
  platform = await startPlatform({ port, ...kept });
  await until(() => said.err.includes("answers again"));
  await pump.send("telemetry", {
    ts: 1_760_000_001_000,
    values: { a: 1, b: 3 },
  });
  await until(() => said.out.includes("1760000001000"));
  const shared = { mode: "night", other: 1 };
  platform.core.saveAttributes(
    platform.core.devices.byName("pump-1")!,
    "SHARED_SCOPE",
    Object.entries(shared),
  );
  await until(() => said.out.includes("night"));
  // As many looks as would have brought the warning.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const code = await end(child, "SIGINT");
  rig.recording.add(`mote ${watch.join(" ")}   # with an outage, and Ctrl-C`, { ...said, code });
  rig.recording.compare(t, "watch-outage");
});
