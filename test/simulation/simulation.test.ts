// Every byte that a device sends and shows, through provisioning, refusals, errors that quote it, reset, recovery and health: no secret
// is in it but where the platform's interface has it.
import test, { type ExecutionContext } from "ava";
import { Diagnostics } from "../../extras/diagnostics/index.js";
import { Agent, type Wake, type WakeOptions } from "../../src/index.js";
import { Recovery } from "../../src/internal.js";
import { FakeClock } from "../fakes/clock.js";
import { FakeFlash } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { FakePlatform } from "../fakes/platform.js";
import { Lamp, type LampOptions } from "../src/agent/firmware/updates/lamp.js";
import { formsOf, secretsIn, withoutLawful } from "./promises/secrets.js";
import { staysTheSame } from "./replay.js";
import { simulate } from "./simulated-run.js";

const NAME = "greenhouse-7";
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

/** All that goes out, and all that is shown. */
class Heard {
  readonly requests: string[] = [];
  readonly shown: string[] = [];
  readonly tokens = new Set<string>();
}

interface Life {
  readonly agent: Agent;
  readonly host: ReturnType<typeof fakeHost>;
  readonly diagnostics: Diagnostics;
  end(): Promise<void>;
}

const EVENTS = [
  ...(["provisioned", "online", "offline", "delivered", "drop", "attributes", "rpc"] as const),
  ...(["firmware", "refused", "restart", "error"] as const),
];

class Device {
  readonly clock = new FakeClock(Date.UTC(2026, 0, 1));
  readonly net = new FakeNet(this.clock);
  readonly platform: FakePlatform;
  readonly store = new FakeStore();
  readonly blocks = new FakeFlash(16 * 4096, 4096);
  readonly heard = new Heard();
  #lives = 0;

  constructor() {
    this.platform = new FakePlatform(this.clock, this.net);
    this.platform.core.profiles.create({
      name: "of the product",
      strategy: "ALLOW_CREATE_NEW_DEVICES",
      provisionKey: KEY,
      provisionSecret: SECRET,
    });
    const serve = this.net.onConnect;
    this.net.onConnect = (peer) => {
      const result = serve?.(peer);
      const { onData } = peer;
      peer.onData = (bytes) => {
        this.heard.requests.push(Buffer.from(bytes).toString("latin1"));
        onData?.(bytes);
      };
      return result;
    };
  }

  live(secret = SECRET, crash: string | false = false): Life {
    const { clock, net, store, blocks, heard } = this;
    store.values.set("wifi", new TextEncoder().encode(`\u0001{"ssid":"home","password":"${WIFI}"}`));
    const lastRun = { reset: "panic", crash };
    const host = fakeHost({ clock, network: net, store, blocks, seed: ++this.#lives, lastRun });
    const agent = new Agent(host, {
      baseUrl: "http://platform.test",
      provisioning: { key: KEY, secret, deviceName: NAME },
    });
    for (const event of EVENTS)
      agent.on(event, (detail) => heard.shown.push(`${event} ${JSON.stringify(detail)}`));
    const recovery = new Recovery(host, "1");
    const diagnostics = new Diagnostics(agent, host, { freeMemory: () => 1000 });
    recovery.attach(agent);
    agent.rpc.handle("fails", () => {
      throw new Error("it can't");
    });
    agent.start();
    const end = async (): Promise<void> => {
      for (const word of ["token", "proposed"]) {
        const kept = store.values.get(word);
        if (kept) heard.tokens.add(JSON.parse(new TextDecoder().decode(kept.subarray(1))).token);
      }
      recovery.close();
      diagnostics.close();
      await Promise.all([agent.stop(), clock.advance(0)]);
      heard.shown.push(...host.lines, JSON.stringify(diagnostics.health));
    };
    return { agent, host, diagnostics, end };
  }

  /** What an operator and a program ask of it, well or not. */
  async ask({ agent, diagnostics }: Life): Promise<void> {
    const { platform, heard, clock } = this;
    const device = platform.core.devices.byName(NAME);
    const methods = ["mote.health", "mote.reset", "fails", "nobody", "restart"];
    for (const method of device ? methods : []) {
      const results = platform.rpc(device!, method, { confirm: false });
      await clock.advance(5000);
      heard.shown.push(JSON.stringify(results));
    }
    const failed = (error: Error): void =>
      void heard.shown.push(`${error.name} ${error.message} ${error.stack}`);
    const asked = [
      agent.rpc.call("getTime", {}, { timeoutMs: 5000 }).catch(failed),
      agent.attributes.read({ sharedKeys: ["x"], timeoutMs: 5000 }).catch(failed),
      agent.claim({ secretKey: "claim" }).catch(failed),
    ];
    agent.telemetry.record({ n: 1 });
    await clock.advance(MINUTE);
    await Promise.all(asked);
    heard.shown.push(JSON.stringify(diagnostics.health));
  }
}

test("no byte that is sent or shown holds a secret, through provisioning, refusals, reset, recovery and health", async (t) => {
  const device = new Device();
  const { clock, platform, heard } = device;
  // A wrong secret, a name that is taken, and then the device itself.
  const wrong = device.live("wr0ng secret of the product");
  await clock.advance(11 * MINUTE);
  await device.ask(wrong);
  await wrong.end();
  platform.create(NAME, "somebody-elses-token");
  let life = device.live();
  await clock.advance(11 * MINUTE);
  await device.ask(life);
  platform.core.deleteDevice(platform.device(NAME));
  await clock.advance(21 * MINUTE);
  await device.ask(life);
  // The platform and what stands before it quote address, head and body in their answers.
  for (const status of [400, 401, 404, 413, 500, 503]) {
    platform.fault = ({ path, body, headers }) => ({
      status,
      body: `No static resource ${path}. ${JSON.stringify(headers)} ${body}`,
    });
    await device.ask(life);
  }
  platform.fault = ({ path, body }) => ({
    status: 200,
    body: { shared: { x: `${path} ${body}` }, id: 7, method: path },
  });
  await device.ask(life);
  platform.fault = undefined;
  await clock.advance(30 * MINUTE);
  await device.ask(life);
  // Crashes that quote what they like would be the application's; those of the machine do not.
  for (let n = 0; n < 6; n++) {
    await life.end();
    life = device.live(SECRET, "panic: unhandled exception");
    await clock.advance(2000);
  }
  await clock.advance(MINUTE);
  await device.ask(life);
  const old = platform.device(NAME).credentials.credentialsId;
  const answered = platform.rpc(platform.device(NAME), "mote.reset", { confirm: true });
  await clock.advance(30_000);
  heard.shown.push(JSON.stringify(answered));
  t.is(life.host.restarts.at(-1), "reset");
  await life.end();
  life = device.live();
  await clock.advance(2 * MINUTE);
  await device.ask(life);
  for (const one of platform.core.devices.list())
    heard.shown.push(
      JSON.stringify(platform.attributes(one)),
      JSON.stringify(platform.attributes(one, "SHARED_SCOPE")),
    );
  await life.end();
  heard.tokens.add(old);
  t.true(heard.tokens.size >= 2 && heard.requests.length > 100 && heard.shown.length > 50);
  const secrets: Record<string, string> = {
    key: KEY,
    secret: SECRET,
    wrong: "wr0ng secret of the product",
    wifi: WIFI,
  };
  for (const token of heard.tokens) secrets[`token ${token}`] = token;
  for (const text of heard.shown) t.deepEqual(secretsIn(text, secrets), [], text.slice(0, 200));
  for (const request of heard.requests)
    t.deepEqual(secretsIn(withoutLawful(request), secrets), [], withoutLawful(request).slice(0, 200));
  const named = heard.requests.filter((request) => secretsIn(request, secrets).length > 0);
  t.true(
    named.some((request) => request.startsWith("POST /api/v1/provision")),
    "what is looked for is there",
  );
});

// A seed is one run, down to the byte; replay.slow.test.ts tries more of them.

staysTheSame(7);

test("another seed is another run", async (t) => {
  t.not((await simulate(7)).world.digest, (await simulate(8)).world.digest);
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
    super({ connections: 1, agent: { cycle }, ...options });
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

test("an update goes on over as many wakes as it takes, ends UPDATED, and is not reported again at each wake", async (t) => {
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
  t.is(torch.shown.error, "the new image could not reach the platform");
  await torch.until(() => torch.shown.state === "UPDATED", 2 * HOUR);
  within(t, torch);
});

test("a self test that never answers ends with the wake's limit, and the image before returns", async (t) => {
  const torch = new Torch({ firmware: { selfTest: () => new Promise<boolean>(() => {}) } });
  await torch.pass(5 * MINUTE);
  torch.release("2.0.0", SIZE);
  await torch.until(() => torch.shown.state === "FAILED", 2 * HOUR);
  t.is(torch.shown.error, "the new image failed its self-test");
  await torch.pass(3 * HOUR);
  t.is(torch.booted.filter((version) => version === "2.0.0").length, 1);
  within(t, torch);
});

test("a download that failed is tried again in a later wake, though no wake is as long as the pause between", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  let refusals = 2;
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

test("keys of which one is missing end FAILED by the second look of a wake, as no wake is as long as the looks of a device that stays on", async (t) => {
  const torch = new Torch();
  await torch.pass(5 * MINUTE);
  const target = torch.package("2.0.0", torch.image("2.0.0", SIZE));
  Object.assign(target, { checksum: undefined });
  torch.assign(target);
  await torch.until(() => torch.shown.state === "FAILED", HOUR);
  t.is(torch.shown.error, "the assignment is incomplete (fw_checksum is missing)");
  const looking = torch.wakes.filter(({ connected, idle }) => connected && !idle);
  t.is(looking.length, 1);
  within(t, torch);
  await torch.pass(3 * HOUR);
  const later = torch.wakes.slice(-30).filter(({ connected }) => connected);
  t.true(later.length > 0 && later.every(({ idle, radioMs }) => idle && radioMs < 2000));
  torch.release("2.0.1", SIZE);
  await torch.until(() => torch.version === "2.0.1", 3 * HOUR);
});

test("a wait before the download goes on over sleeps: one is drawn, no wake stays up for it, and a wake after it begins", async (t) => {
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
