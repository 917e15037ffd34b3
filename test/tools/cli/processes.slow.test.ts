import { readdirSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { interrupt, killAll, type Result } from "./commands.js";
import { PROFILE, startRig } from "./operator-rig.js";

const KEYS = { MOTE_PROVISION_KEY: PROFILE.key, MOTE_PROVISION_SECRET: PROFILE.secret };

test.after.always(killAll);

test("mote platform stores its state and prints commands to run a device and log in", async (t) => {
  const { home } = await startRig(t);
  const env = { XDG_STATE_HOME: join(home, "state") };
  const isUp = ({ out }: Result): boolean => out.includes("Ctrl-C stops it");
  const keyOf = ({ out }: Result) => /provisioning key +(\S+)/.exec(out)?.[1];
  const first = await interrupt(["platform", "--port", "0"], env, isUp);
  t.is(first.code, 0);
  t.regex(first.out, /^ {2}export MOTE_PROVISION_KEY=\S{20} MOTE_PROVISION_SECRET=\S{20}$/m);
  // Other users can see arguments.
  t.regex(first.out, /^ {2}npx mote-cli run --url \S+ --device-name \S+ --state \S+$/m);
  t.regex(first.out, /^ {2}npx mote-cli login --url \S+ --username tenant@thingsboard.org$/m);
  const again = await interrupt(["platform", "--port", "0"], env, isUp);
  t.is(keyOf(again), keyOf(first));
  t.true(readdirSync(join(home, "state", "mote", "platform")).includes("platform.ndjson"));
  const given = { ...env, ...KEYS };
  const other = await interrupt(["platform", "--port", "0", "--no-state"], given, isUp);
  t.is(other.code, 0);
  t.false(other.out.includes(PROFILE.secret), "a secret that was given is not printed");
});

test("a second platform on the same state is refused", async (t) => {
  const { home, run } = await startRig(t);
  const env = { XDG_STATE_HOME: join(home, "state"), MOTE_ADMIN_PASSWORD: "a-password-of-a-test" };
  let second: "none" | "running" | "over" = "none";
  const turnAway = async (): Promise<void> => {
    second = "running";
    const { code, err } = await run(["platform", "--port", "0"], { XDG_STATE_HOME: join(home, "state") });
    t.is(code, 1);
    t.regex(err, /is in use by process \d+/);
    second = "over";
  };
  const first = await interrupt(["platform", "--port", "0", "--host", "0.0.0.0"], env, ({ out }) => {
    if (second === "none" && out.includes("Ctrl-C stops it")) void turnAway();
    return second === "over";
  });
  t.is(first.code, 0);
  t.false(first.out.includes("a-password-of-a-test"));
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
