// The checker of secrets, the replay of runs, and updates of a device that sleeps in between.
import test, { type ExecutionContext } from "ava";
import type { Wake, WakeOptions } from "../../src/index.js";
import { Lamp, type LampOptions } from "../src/agent/firmware/updates/lamp.js";
import { formsOf, secretsIn } from "./promises/secrets.js";

const MINUTE = 60_000;
const KEY = "key of/the+product";
const SECRET = "s3cret ü&=of the product";
const WIFI = "correct horse battery";

const FORMS: readonly [string, (text: string) => string][] = [
  ["as it is", (text) => `x${text}y`],
  ["escaped", (text) => encodeURIComponent(text)],
  ["hexadecimal", (text) => Buffer.from(text).toString("hex")],
  ...[0, 1, 2].map((n): [string, (text: string) => string] => [
    `base64 behind ${n} bytes`,
    (text) => Buffer.from(`${"z".repeat(n)}${text}zz`).toString("base64"),
  ]),
  ["base64url", (text) => Buffer.from(text).toString("base64url")],
  ["in JSON", (text) => JSON.stringify({ text })],
];

test("a secret is found in each form, and in no text without it", (t) => {
  const secrets = { key: KEY, secret: SECRET, wifi: WIFI };
  for (const [name, secret] of Object.entries(secrets))
    for (const [form, make] of FORMS)
      t.deepEqual(secretsIn(make(secret), secrets), [name], `${name} ${form}`);
  t.deepEqual(secretsIn("the quick brown fox, and 0123456789abcdef", secrets), []);
  for (const secret of Object.values(secrets)) t.true(formsOf(secret).every((form) => form.length >= 8));
});

// Updates of a device that sleeps in between: each wake is a start of its own.

const HOUR = 60 * MINUTE;
const SIZE = 40_000;
const DEADLINE_MS = 15_000;
const UPDATE_MS = 40_000;
const cycle = { everyMs: MINUTE, connectEvery: 10, updateMs: UPDATE_MS };

/** A lamp that is on for a wake only. What it keeps asleep goes with every restart. */
class Torch extends Lamp {
  readonly wakes: Wake[] = [];
  /** How long each wake lasted, those that ended with a restart included. */
  readonly lasted: number[] = [];
  wake: WakeOptions = {};
  #kept: string | undefined;
  #beganAt = 0;

  constructor(options: LampOptions = {}) {
    const firmware = { trialMs: 10_000, ...options.firmware };
    super({ connections: 1, agent: { cycle }, ...options, firmware });
  }

  protected override begin(): void {
    const { agent, machine } = this;
    const { clock, starts } = machine;
    this.#beganAt = clock.now();
    const kept = this.#kept;
    this.#kept = undefined;
    void agent
      .runOnce({ timeoutMs: DEADLINE_MS, sample: () => ({ lux: 1 }), kept, ...this.wake })
      .then((wake) => {
        if (machine.starts !== starts) return;
        this.wakes.push(wake);
        this.lasted.push(clock.now() - this.#beganAt);
        if (!machine.powered) return;
        this.#kept = wake.kept;
        clock.timer(wake.sleepMs, () => {
          if (machine.starts !== starts || !machine.powered) return;
          machine.off();
          machine.asked = true;
        });
      });
  }
}

/** What the wakes of an update keep to. */
function within(t: ExecutionContext, torch: Torch): void {
  t.true(Math.max(...torch.lasted) <= UPDATE_MS, `${Math.max(...torch.lasted)} ms`);
}

test("an update continues over wakes, ends UPDATED, and is reported once", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  // The image takes longer than one wake may.
  torch.machine.net.options.segmentMs = 1800;
  torch.release("2.0.0", SIZE);
  await torch.until(() => torch.version === "2.0.0", 3 * HOUR);
  torch.machine.net.options.segmentMs = 0;
  const fetching = torch.wakes.filter(({ reason }) => reason === "firmware").length;
  t.true(fetching >= 1, `${fetching} wakes went on with it`);
  await torch.untilState("UPDATED");
  t.deepEqual(torch.shown, { state: "UPDATED", error: "", running: "2.0.0" });
  t.deepEqual(torch.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"]);
  await torch.pass(HOUR);
  const reports = () => torch.platform.points(torch.device, "fw_state").length;
  const before = reports();
  await torch.pass(3 * HOUR);
  t.is(reports(), before);
  t.true(torch.wakes.at(-1)!.wakes > 100, "no restart since");
  within(t, torch);
});

test("a new image that can't reach the platform gives way within its wake, and is tried again later", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  torch.onStart = (version) => {
    if (version === "2.0.0") torch.reachable = false;
  };
  torch.release("2.0.0", SIZE);
  await torch.until(() => torch.booted.includes("2.0.0"), HOUR);
  const since = torch.machine.clock.now();
  await torch.until(() => torch.version === "1.0.0", HOUR);
  t.true(torch.machine.clock.now() - since <= UPDATE_MS, `${torch.machine.clock.now() - since} ms`);
  torch.reachable = true;
  torch.onStart = undefined;
  await torch.untilState("FAILED");
  t.is(torch.shown.error, "platform not reached");
  await torch.until(() => torch.shown.state === "UPDATED", 2 * HOUR);
  within(t, torch);
});

test("a self test that never answers ends with the wake's limit, and the image before returns", async (t) => {
  const torch = new Torch({ firmware: { selfTest: () => new Promise<boolean>(() => {}) } });
  await torch.pass(5 * MINUTE);
  torch.release("2.0.0", SIZE);
  await torch.until(() => torch.shown.state === "FAILED", 2 * HOUR);
  t.is(torch.shown.error, "self-test failed");
  await torch.pass(3 * HOUR);
  t.is(torch.booted.filter((version) => version === "2.0.0").length, 1);
  within(t, torch);
});

test("a failed download is tried again in a later wake, though no wake lasts as long as the pause", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  // Each failure takes two: the second confirms that the package is still assigned.
  let refusals = 4;
  torch.platform.fault = ({ path }) =>
    path.includes("/firmware?") && refusals-- > 0 ? { status: 404 } : undefined;
  torch.release("2.0.0", SIZE);
  await torch.until(() => torch.shown.state === "UPDATED", 3 * HOUR);
  t.deepEqual(torch.states.slice(0, 4), ["DOWNLOADING", "FAILED", "DOWNLOADING", "FAILED"]);
  within(t, torch);
});

test("a wrong checksum is refused once, and costs no wake after that more than a look", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  const target = torch.package("2.0.0", torch.image("2.0.0", SIZE));
  Object.assign(target, { checksum: "00".repeat(32) });
  torch.assign(target);
  await torch.until(() => torch.shown.state === "FAILED", HOUR);
  const fetches = torch.fetches.length;
  await torch.pass(12 * HOUR);
  t.is(torch.fetches.length, fetches);
  const later = torch.wakes.slice(-30).filter(({ connected }) => connected);
  t.true(later.length > 0 && later.every(({ idle, radioMs }) => idle && radioMs < 2000));
});

test("a wait before the download continues over sleeps and keeps no wake up", async (t) => {
  const torch = new Torch({ firmware: { spreadMs: 4 * HOUR } });
  await torch.pass(5 * MINUTE);
  const from = torch.wakes.length;
  torch.release("2.0.0", SIZE);
  const drawn = new Set<string>();
  await torch.until(() => {
    const text = new TextDecoder().decode(torch.machine.store.values.get("firmware") ?? new Uint8Array());
    const [, at] = /"idle".*"at":(\d+)/.exec(text) ?? [];
    if (at !== undefined) drawn.add(at);
    return torch.fetches.length > 0;
  }, 5 * HOUR);
  t.is(drawn.size, 1);
  const late = (torch.machine.clock.wall() ?? 0) - Number([...drawn][0]);
  t.true(late >= 0 && late < 11 * MINUTE, `${late} ms late`);
  t.true(torch.wakes.length - from > 10, `${torch.wakes.length - from} wakes`);
  t.true(Math.max(...torch.lasted.slice(from)) <= DEADLINE_MS);
  await torch.untilState("UPDATED");
  within(t, torch);
});
