import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { interrupt, killAll, type Result } from "../commands.js";
import { PROFILE, startRig } from "./rig.js";

const KEYS = { MOTE_PROVISION_KEY: PROFILE.key, MOTE_PROVISION_SECRET: PROFILE.secret };
const WRONG = { MOTE_PROVISION_KEY: "wrong", MOTE_PROVISION_SECRET: "wrong" };

test.after.always(killAll);

/** The figures of a fleet are never the same, but for those that a test is about. */
const figures = ({ code, out, err }: Result): Result => {
  const masked = out.replace(/"(?!devices|refused|dropped)(\w+)": ?(?:[\d.]+|null)/g, '"$1": N');
  return {
    code,
    out: masked,
    err: err.replace(/fleet-[0-9a-f]{6}-/g, "fleet-XXXXXX-").replace(/after \d+ s/, "after N s"),
  };
};

test("a fleet removes its devices unless told otherwise, and exits with 3 if refused", async (t) => {
  const rig = await startRig(t);
  const { platform, recording, env } = rig;
  rig.device("another");
  const count = (): number => platform.core.devices.list().length;
  const args = ["fleet", "--devices", "2", "--url", platform.url, "--for", "3s", "--ramp", "100ms", "--json"];
  const run = async (more: string[], secrets: Record<string, string>): Promise<void> => {
    const ended = await interrupt([...args, ...more], { ...env, ...secrets }, () => false);
    recording.add(`mote ${[...args, ...more].join(" ")}`, figures(ended));
  };
  await run([], KEYS);
  t.is(count(), 1);
  await run(["--keep"], KEYS);
  t.is(count(), 3);
  await run([], { ...KEYS, MOTE_LOGIN: join(rig.home, "none.json") });
  t.is(count(), 5);
  await run([], WRONG);
  await run(["--outage", "3s"], KEYS);
  t.is(count(), 5);
  const long = [...args, "--for", "1m"];
  const ended = await interrupt(long, { ...env, ...KEYS }, () => count() === 7);
  recording.add(`mote ${long.join(" ")}   # and Ctrl-C`, figures(ended));
  t.is(count(), 5);
  recording.compare(t, "fleet");
});

test("mote platform stores its state and prints commands to run a device and log in", async (t) => {
  const { home, recording } = await startRig(t);
  const env = { XDG_STATE_HOME: join(home, "state") };
  const isUp = ({ out }: Result): boolean => out.includes("Ctrl-C stops it");
  const first = await interrupt(["platform", "--port", "0"], env, isUp);
  const [, key = ""] = /provisioning key +(\S+)/.exec(first.out) ?? [];
  const [, secret = ""] = /provisioning secret +(\S+)/.exec(first.out) ?? [];
  recording.mask(key, "PROVISIONING-KEY----");
  recording.mask(secret, "PROVISIONING-SECRET-");
  recording.add("mote platform --port 0", first);
  recording.add("mote platform --port 0   # again", await interrupt(["platform", "--port", "0"], env, isUp));
  t.deepEqual(readdirSync(join(home, "state", "mote", "platform")).includes("platform.db"), true);
  recording.add(
    "mote platform --port 0 --no-state   # with the key in the environment",
    await interrupt(["platform", "--port", "0", "--no-state"], { ...env, ...KEYS }, isUp),
  );
  recording.compare(t, "platform");
});

test("an exposed platform prints a QR code; a second one on the same state is refused", async (t) => {
  const { home, recording } = await startRig(t);
  const env = { XDG_STATE_HOME: join(home, "state"), MOTE_ADMIN_PASSWORD: "a-password-of-a-test" };
  let second: "none" | "running" | "over" = "none";
  const turnAway = async (): Promise<void> => {
    second = "running";
    await recording.run(["platform", "--port", "0"], { XDG_STATE_HOME: join(home, "state") });
    second = "over";
  };
  const first = await interrupt(["platform", "--port", "0", "--host", "0.0.0.0"], env, ({ out }) => {
    if (second === "none" && out.includes("Ctrl-C stops it")) void turnAway();
    return second === "over";
  });
  t.is(first.code, 0);
  t.false(first.out.includes("a-password-of-a-test"));
  // A machine without a network has nothing to draw.
  if (first.out.includes("for boards")) {
    t.regex(first.out, /Open the console on a phone in the same network, http:\/\/\S+\/:\n/);
    t.true((first.out.match(/^[ █▀▄]{20,40}$/gm) ?? []).length >= 12);
  }
  recording.compare(t, "platform-twice");
});

test("reports a device as provisioned only once accepted, and before it is online", async (t) => {
  const rig = await startRig(t);
  rig.device("pump-1");
  const run = (state: string): string[] => [
    ...["run", "--url", rig.platform.url, "--state", join(rig.home, state), "--exit-on-refusal"],
  ];
  const events = ({ out }: Result): string[] =>
    out
      .split("\n")
      .map((line) => line.slice(10))
      .filter((line) => /^(?:provisioned|online|refused)/.test(line));
  const refused = await interrupt(run("refused"), { MOTE_TOKEN: "no-such-token" }, () => false);
  t.is(refused.code, 3);
  t.deepEqual(
    events(refused).map((line) => line.split(" ")[0]),
    ["refused"],
    refused.out,
  );
  const taken = await interrupt(run("taken"), { MOTE_TOKEN: "pump-1-token" }, ({ out }) =>
    out.includes("  online"),
  );
  t.is(taken.code, 0);
  t.deepEqual(events(taken), ["provisioned", "online"], taken.out);
});
