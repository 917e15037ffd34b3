import test from "ava";
import { Agent } from "../../../../src/agent/agent.js";
import { compareVersions } from "../../../../src/agent/firmware/admission.js";
import type { FirmwareOptions } from "../../../../src/agent/firmware/firmware.js";
import {
  readRecord,
  STATES,
  type State,
  type UpdateRecord,
  writeRecord,
} from "../../../../src/agent/firmware/update-journal.js";
import { type FakeHost, fakeHost } from "../../../fakes/host.js";
import { answer, type SeenRequest, serve } from "../../../fakes/server.js";
import { Device, imageOf, Platform, sha256 } from "./rig.js";

const SIZE = 20_000;
const MINUTE = 60_000;

/** A device that was just restarted into 2.0.0. `setUp` is called before its first start. */
async function onTrial(
  options: Partial<FirmwareOptions>,
  setUp: (device: Device, platform: Platform) => void = () => {},
): Promise<{ platform: Platform; device: Device }> {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 2, options);
  setUp(device, platform);
  await device.until(() => device.version === "2.0.0");
  return { platform, device };
}

const failed = (platform: Platform) => () => platform.last.fw_state === "FAILED";

test("a new image is confirmed only after its self test passed", async (t) => {
  let pass: (good: boolean) => void = () => {};
  const selfTest = () =>
    new Promise<boolean>((resolve) => {
      pass = resolve;
    });
  const { platform, device } = await onTrial({ selfTest });
  await device.pass(MINUTE);
  t.is(device.machine.state, "pending");
  t.is(platform.last.fw_state, "UPDATING");
  t.false(platform.reports.some(({ values }) => values.current_fw_version === "2.0.0"));
  pass(true);
  await device.until(() => platform.last.fw_state === "UPDATED", MINUTE);
  t.is(device.machine.state, "confirmed");
});

for (const [title, selfTest] of [
  ["answers false", () => false],
  ["throws", () => Promise.reject(new Error("no sensor"))],
  ["never answers", () => new Promise<boolean>(() => {})],
] as const) {
  test(`when the self test ${title}, the image before returns, reports why, and does not try again`, async (t) => {
    const { platform, device } = await onTrial({ selfTest });
    await device.until(failed(platform));
    t.is(platform.last.fw_error, "the new image failed its self-test");
    t.is(platform.last.current_fw_version, "1.0.0");
    await device.pass(3 * 60 * MINUTE);
    t.deepEqual(device.booted, ["1.0.0", "2.0.0", "1.0.0"]);
    t.is(device.machine.state, "confirmed");
  });
}

test("a new image that the platform never accepts gives way after 10 minutes, and is tried again", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    device.accepted = (version) => version === "1.0.0";
  });
  const since = device.machine.clock.now();
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the platform did not accept the new image in time");
  const took = device.machine.clock.now() - since;
  t.true(took >= 10 * MINUTE && took < 11 * MINUTE, `${took} ms`);
  device.accepted = () => true;
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(platform.fetched, SIZE, "the slot still held the image");
});

test("the 10 minutes do not run while the platform is away", async (t) => {
  const { platform, device } = await onTrial({}, (device, platform) => {
    platform.onReport = (values) => {
      if (values.fw_state === "UPDATING") platform.reachable = false;
    };
    t.truthy(device);
  });
  await device.pass(50 * MINUTE);
  t.is(device.machine.state, "pending");
  platform.reachable = true;
  await device.until(() => platform.last.fw_state === "UPDATED", MINUTE);
  t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
});

test("a new image that can't reach the platform for an hour gives way", async (t) => {
  const { platform, device } = await onTrial({}, (_device, platform) => {
    platform.onReport = (values) => {
      if (values.fw_state === "UPDATING") platform.reachable = false;
    };
  });
  await device.until(() => device.version === "1.0.0", 70 * MINUTE);
  platform.onReport = undefined;
  platform.reachable = true;
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image could not reach the platform");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(platform.fetched, SIZE);
});

test("an image that crashes at once is given up after four starts", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    device.crashes = { "2.0.0": 0 };
  });
  await device.until(failed(platform));
  t.regex(String(platform.last.fw_error), /the new image (did not start|ended before it was confirmed)/);
  await device.pass(5 * 60 * MINUTE);
  t.is(device.booted.filter((version) => version === "2.0.0").length, 4);
  t.is(device.version, "1.0.0");
  t.is(platform.fetched, SIZE);
});

test("a power loss during the trial is one attempt and no ban", async (t) => {
  const { platform, device } = await onTrial({
    selfTest: () => device.machine.starts !== 2 || new Promise(() => {}),
  });
  await device.pass(1000);
  device.machine.off();
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image ended before it was confirmed");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "2.0.0", "1.0.0", "2.0.0"]);
  t.is(platform.fetched, SIZE);
});

test("an image that calls itself by another version gives way", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.1", SIZE));
  platform.packages.set("2.0.1", imageOf("2.0.1", SIZE));
  const device = new Device(platform, 2);
  await device.until(failed(platform));
  t.is(platform.last.fw_error, "the new image has a different title or version than assigned");
  await device.pass(3 * 60 * MINUTE);
  t.deepEqual(device.booted, ["1.0.0", "2.0.1", "1.0.0"]);
});

test("an image whose confirmation was stored, but not its report, reports UPDATED after the next start", async (t) => {
  const { platform, device } = await onTrial({}, (device) => {
    let confirmed = false;
    device.machine.onOperation = (name) => {
      if (confirmed) device.machine.off();
      confirmed = name === "confirm";
    };
  });
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "2.0.0", "2.0.0"]);
});

test("a state that is reported again after a restart has the time stamp of the first report", async (t) => {
  const { platform, device } = await onTrial({});
  await device.until(() => platform.last.fw_state === "UPDATED");
  device.machine.off();
  await device.pass(MINUTE);
  const updated = platform.reports.filter(({ values }) => values.fw_state === "UPDATED");
  t.is(updated.length, 2);
  t.is(updated[0]?.ts, updated[1]?.ts);
  const stamps = new Set(platform.reports.filter(({ values }) => values.fw_state).map(({ ts }) => ts));
  t.is(stamps.size, 5, "no state replaces another");
});

test("the next version follows a confirmed one", async (t) => {
  const { platform, device } = await onTrial({});
  await device.until(() => platform.last.fw_state === "UPDATED");
  const next = imageOf("3.0.0", SIZE + 5);
  platform.assign("3.0.0", next);
  device.firmware.offer(platform.shared);
  await device.until(() => device.version === "3.0.0" && platform.last.fw_state === "UPDATED");
  const { machine } = device;
  t.is(sha256(machine.slots[machine.active].bytes.slice(0, next.length)), sha256(next));
});

for (const [fails, state, booted] of [
  [3, "UPDATED", ["1.0.0", "2.0.0"]],
  [10, "FAILED", ["1.0.0", "2.0.0", "1.0.0"]],
] as const) {
  test(`a host that can't confirm the image ${fails} times is asked each minute, ten times at the most: ${state}`, async (t) => {
    let left = fails as number;
    const at: number[] = [];
    const { platform, device } = await onTrial({}, (device) => {
      device.machine.onOperation = (name) => {
        if (name !== "confirm") return undefined;
        at.push(device.machine.clock.now());
        return left-- <= 0;
      };
    });
    await device.until(() => ["UPDATED", "FAILED"].includes(String(platform.last.fw_state)));
    t.is(platform.last.fw_state, state);
    if (state === "FAILED") t.is(platform.last.fw_error, "the device could not confirm the new image");
    t.deepEqual(device.booted, booted);
    t.is(at.length, Math.min(10, fails + 1));
    // What else happens to the update meanwhile, as the first look at its keys, may bring the next try forward.
    t.true(
      at.slice(2).every((ms, i) => ms - at[i + 1]! === MINUTE),
      `${at}`,
    );
  });
}

for (const fails of [3, 20]) {
  test(`a host that can't select the previous image ${fails} times is asked each minute, ten times at the most`, async (t) => {
    let left = fails;
    const at: number[] = [];
    const { platform, device } = await onTrial({ selfTest: () => false }, (device) => {
      device.machine.onOperation = (name) => {
        if (name !== "revert") return undefined;
        at.push(device.machine.clock.now());
        return left-- <= 0;
      };
    });
    await device.until(() => device.booted.length > 2);
    t.is(at.length, Math.min(10, fails + 1));
    // A notification may bring the second try forward.
    t.true(
      at.slice(2).every((ms, i) => ms - at[i + 1]! === MINUTE),
      `${at}`,
    );
    // After ten tries it restarts, and the boot loader rolls back.
    t.deepEqual(device.booted, ["1.0.0", "2.0.0", "1.0.0"]);
    await device.until(failed(platform));
    t.is(platform.last.fw_error, "the new image failed its self-test");
  });
}

// What is stored of an update, and what a start makes of it that finds something else.

const RECORD: UpdateRecord = {
  state: "downloading",
  key: "k",
  title: "lamp",
  version: "2",
  from: "1",
  offset: 8192,
  failures: 1,
  spared: 2,
  condemned: true,
  error: "wrong checksum",
  size: 9000,
  checksum: "ab",
  etag: '"e"',
  at: 1e12,
};

/** What a start finds where `change` was stored. */
function found(change: object): UpdateRecord | undefined {
  const host = fakeHost();
  writeRecord(host, { ...RECORD, ...change });
  return readRecord(host);
}

test("a record comes back as it was stored, in every state", (t) => {
  for (const state of Object.keys(STATES) as State[]) t.deepEqual(found({ state }), { ...RECORD, state });
});

test("a record without its state, or of which nobody could know what it belongs to, is none", (t) => {
  for (const name of ["state", "key", "title", "version"])
    for (const value of [undefined, null, 1, {}, []])
      t.is(found({ [name]: value }), undefined, `${name} ${value}`);
  for (const state of ["", "DOWNLOADING", "toString", "__proto__"]) t.is(found({ state }), undefined, state);
  t.is(readRecord(fakeHost()), undefined);
});

test("a count that is none is 0, and a text that is none is empty", (t) => {
  for (const name of ["offset", "failures", "spared", "size", "at"])
    for (const value of [undefined, null, -1, 1.5, Number.NaN, "7", [], true])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: 0 }, `${name} ${value}`);
  for (const name of ["from", "error", "checksum", "etag"])
    for (const value of [undefined, null, 7, [], {}])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: "" }, `${name} ${value}`);
  for (const value of [undefined, null, 1, "true"])
    t.deepEqual(found({ condemned: value }), { ...RECORD, condemned: false }, `${value}`);
});

// Which of two versions is the older one.

const RISING = [
  "0",
  "0.9",
  "0.9.1",
  "v1.0.0-alpha",
  "1.0.0-rc.1",
  "1.0.0-rc.2",
  "1",
  "1.0.0.1",
  "1.2",
  "1.10.0-x",
  "1.10",
  "2",
  "10.0",
];

test("parts are compared as numbers, and what follows a hyphen comes before what has none", (t) => {
  for (const [i, one] of RISING.entries())
    for (const [k, other] of RISING.entries()) {
      const found = compareVersions(one, other);
      t.is(Math.sign(found ?? Number.NaN), Math.sign(i - k), `${one} and ${other}: ${found}`);
    }
});

test("missing parts are 0, a v before it and what follows a plus do not count", (t) => {
  for (const [one, other] of [
    ["1", "1.0"],
    ["1.0.0.0", "1"],
    ["v1.2", "1.2"],
    ["1.2+a", "1.2+b"],
    ["1.2-rc+a", "1.2-rc"],
  ] as const) {
    t.is(compareVersions(one, other), 0, `${one} and ${other}`);
    t.is(compareVersions(other, one), 0, `${other} and ${one}`);
  }
});

test("what is no version is neither older nor newer", (t) => {
  for (const none of [
    "",
    "x",
    "1.",
    ".1",
    "1..2",
    "1.x",
    "1 ",
    "V1",
    "1234567890",
    "1.2.3.4.5.6.7.8.9",
    "1-",
    undefined,
    null,
    1,
    {},
  ]) {
    t.is(compareVersions(none, "1.0"), undefined, `${none}`);
    t.is(compareVersions("1.0", none), undefined, `${none}`);
  }
  t.is(compareVersions("123456789.2.3.4.5.6.7.8", "1"), 123_456_788);
});

// The whole agent on in-memory sockets: from the notification that firmware was assigned to the confirmation after the restart.

const IMAGE = imageOf("2.0.0", 200_000);
const ASSIGNED = {
  fw_title: "lamp",
  fw_version: "2.0.0",
  fw_size: IMAGE.length,
  fw_checksum_algorithm: "SHA256",
  fw_checksum: sha256(IMAGE),
};

class Stand {
  shared: Record<string, unknown> = {};
  client: Record<string, unknown> = {};
  /** An image comes in pieces of 2 KiB, so far apart. */
  paceMs = 0;
  readonly telemetry: string[] = [];
  readonly seen: SeenRequest[];
  readonly #polls: SeenRequest[] = [];

  readonly #host: FakeHost;

  constructor(host: FakeHost) {
    this.#host = host;
    this.seen = serve(host.net, (request) => this.#handle(request));
  }

  /** As the platform does it: the deletion is sent to the open poll, which ends with it; the values to nobody. */
  assign(): void {
    for (const poll of this.#polls.splice(0)) poll.reply(200, { deleted: ["fw_url"] });
    this.shared = ASSIGNED;
  }

  get states(): string[] {
    const states = [...this.telemetry.join("\n").matchAll(/"fw_state":"([A-Z]+)"/g)].map(
      (match) => match[1] ?? "",
    );
    return states.filter((state, i) => state !== states[i - 1]);
  }

  #handle(request: SeenRequest): void {
    const [path = "", query = ""] = request.path.replace("/api/v1/TOKEN/", "").split("?");
    if (path === "telemetry") this.telemetry.push(request.body);
    if (path === "attributes" && request.method === "POST")
      Object.assign(this.client, JSON.parse(request.body));
    if (path === "attributes" && request.method === "GET")
      request.reply(200, { client: this.client, shared: this.shared });
    else if (path === "attributes/updates") this.#polls.push(request);
    else if (path === "rpc" && request.method === "GET")
      this.#host.clock.timer(Number(new URLSearchParams(query).get("timeout")), () =>
        request.reply(408, "", { Connection: "close" }),
      );
    else if (path === "firmware") this.#hand(request, new URLSearchParams(query));
    else request.reply(200);
  }

  #hand(request: SeenRequest, query: URLSearchParams): void {
    const size = Number(query.get("size") ?? IMAGE.length);
    const from = size * Number(query.get("chunk") ?? 0);
    const bytes = IMAGE.subarray(from, from + size);
    request.peer.send(answer(200, "", { "Content-Length": `${bytes.length}` }));
    this.#send(request, bytes);
  }

  #send(request: SeenRequest, bytes: Uint8Array): void {
    const now = this.paceMs === 0 ? bytes.length : 2048;
    request.peer.send(bytes.subarray(0, now));
    const rest = bytes.subarray(now);
    if (rest.length > 0) this.#host.clock.timer(this.paceMs, () => this.#send(request, rest));
  }
}

function agentOn(host: FakeHost, connections: 1 | 2 | 3, version: string): Agent {
  return new Agent(host, {
    baseUrl: "https://platform.example.com",
    token: "TOKEN",
    connections,
    firmware: { title: "lamp", version, chunkBytes: 16_384 },
  });
}

test("a download that stop() ended is over: nothing of it ends the one that goes on after it", async (t) => {
  const host = fakeHost({ net: { segmentBytes: 1460 } });
  const stand = new Stand(host);
  stand.paceMs = 3000;
  stand.shared = ASSIGNED;
  const agent = agentOn(host, 3, "1.0.0");
  const parts = () => stand.seen.filter(({ path }) => path.includes("/firmware?"));
  agent.start();
  await host.clock.runUntil(() => parts().length === 1, 60_000);
  await host.clock.advance(20_000);
  const stopped = agent.stop();
  await host.clock.advance(0);
  await stopped;
  agent.start();
  await host.clock.advance(150_000);
  // The second begins with the header alone, which is not believed over a stop.
  const asked = parts()
    .slice(2)
    .map(({ path }) => {
      const query = new URLSearchParams(path.split("?")[1]);
      const size = Number(query.get("size"));
      return { from: size * Number(query.get("chunk")), size };
    });
  t.true(asked.length > 1);
  for (const [i, { from, size }] of asked.slice(0, -1).entries())
    t.is(asked[i + 1]?.from, from + size, "a part came whole");
  const again = agent.stop();
  await host.clock.advance(0);
  await again;
});

for (const connections of [1, 2, 3] as const) {
  test(`the whole agent updates itself, with telemetry going on meanwhile, ${connections} connection(s)`, async (t) => {
    const host = fakeHost({ net: { segmentBytes: 1460 } });
    const stand = new Stand(host);
    const agent = agentOn(host, connections, "1.0.0");
    agent.start();
    await host.clock.advance(40_000);
    stand.assign();
    let during = 0;
    agent.on("firmware", ({ progress }) => {
      if (progress === undefined) return;
      during++;
      agent.telemetry.record({ during });
    });
    const took = await host.clock.runUntil(() => host.restarts.length > 0, 45 * 60_000);
    t.log(`${Math.round(took / 1000)} s for ${IMAGE.length} bytes`);
    await agent.stop();
    t.deepEqual(host.restarts, ["firmware"]);
    t.is(host.slot.activated, IMAGE.length);
    t.is(sha256(host.slot.bytes.subarray(0, IMAGE.length)), sha256(IMAGE));
    t.true(during > 5);
    t.true(
      stand.telemetry.join().includes(`"during":${during}`),
      "the points recorded meanwhile arrived before the restart",
    );
    t.deepEqual(stand.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"]);
    const fetched = stand.seen.filter(({ path }) => path.includes("/firmware?"));
    t.is(fetched.length, connections === 3 ? 1 : Math.ceil(IMAGE.length / 16_384));

    host.slot.current = "pending";
    const next = agentOn(host, connections, "2.0.0");
    next.start();
    await host.clock.runUntil(() => stand.states.includes("UPDATED"), 60_000);
    t.is(host.slot.state(), "confirmed");
    await host.clock.advance(120_000);
    t.is(stand.states.at(-1), "UPDATED");
    await next.stop();
    t.deepEqual(host.slot.violations, []);
  });
}
