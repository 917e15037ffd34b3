// A device as a service: what arrives on systemd's socket, and what systemd's own tools say of the unit. Without them, and Python for the socket, skipped.
import { execFile, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import test from "ava";
import { startPlatform } from "../../../tools/platform/server.js";
import { killAll, launch, processOutput } from "../cli/commands.js";

const run = promisify(execFile);
const missing = ["systemd-notify", "systemd-analyze", "python3"].find((name) => {
  try {
    execFileSync(name, ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
});
const withTools = missing === undefined ? test : test.skip;
const place = mkdtempSync(join(tmpdir(), "mote-service-"));
test.after.always(() => {
  killAll();
  rmSync(place, { recursive: true, force: true });
});

/** Prints what comes, a line each. */
const LISTENER = `
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("open", flush=True)
while True:
    data, _, _, _ = s.recvmsg(4096, 1024)
    print(data.decode().replace("\\n", " "), flush=True)
`;

withTools("systemd hears that it is ready, that it lives, how it does, and that it ends", async (t) => {
  const platform = await startPlatform({
    port: 0,
    profile: { key: "service-key", secret: "service-secret" },
  });
  const socket = join(place, "notify");
  const listener = spawn("python3", ["-c", LISTENER, socket], { stdio: ["ignore", "pipe", "inherit"] });
  t.teardown(async () => {
    listener.kill();
    await platform.close();
  });
  const heard: string[] = [];
  const lines = createInterface(listener.stdout);
  await once(lines, "line");
  lines.on("line", (line) => heard.push(line.replace(/ ?BARRIER=1/, "")));
  const child = launch(["run", "--url", platform.url, "--state", join(place, "state"), "--log", "json"], {
    ...{ MOTE_PROVISION_KEY: "service-key", MOTE_PROVISION_SECRET: "service-secret" },
    // Four times in it: each second.
    ...{ NOTIFY_SOCKET: socket, WATCHDOG_USEC: "4000000" },
  });
  await processOutput(child).until(({ events }) =>
    events.some(({ event }) => event === "telemetry.delivered"),
  );
  const late = Date.now() + 60_000;
  while (!heard.some((line) => line.includes("WATCHDOG=1")) && Date.now() < late)
    await new Promise((resolve) => setTimeout(resolve, 200));
  child.kill("SIGTERM");
  await once(child, "close");
  const said = heard.filter((line) => line !== "");
  t.regex(said[0] ?? "", /^READY=1 STATUS=started /);
  t.true(said.includes("WATCHDOG=1 STATUS=online"), said.join("\n"));
  t.is(said.at(-1), "STOPPING=1");
  t.notRegex(said.join(), /service-secret/);
});

withTools("the unit is sound, and exposes little", async (t) => {
  const unit = join(place, "mote@greenhouse-7.service");
  const text = readFileSync("tools/systemd/mote@.service", "utf8");
  // The command need not be installed here.
  writeFileSync(unit, text.replace("ExecStart=mote-cli", `ExecStart=${process.execPath}`));
  const { stderr } = await run("systemd-analyze", ["verify", unit]);
  t.notRegex(stderr, /mote@/);
  const { stdout } = await run("systemd-analyze", ["security", "--offline=true", unit]);
  const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(stdout)?.[1]);
  t.true(exposure <= 2, `${exposure}`);
});
