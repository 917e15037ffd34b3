// The portable part as one script on the XS engine itself.

import { createHash, generateKeyPairSync, sign } from "node:crypto";
import test, { type ExecutionContext } from "ava";
import { ReportOnChange, type ReportOnChangeAgent } from "../../extras/report-on-change/index.js";
import { none } from "../../hosts/none.js";
import * as mote from "../../src/index.js";
import { SecretRedactor } from "../../src/wire/text/redactor.js";
import { encodeValues } from "../../src/wire/values.js";
import { FakeClock } from "../fakes/clock.js";
import { FakeFlash } from "../fakes/flash.js";
import { fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { FakePlatform, KEY, SECRET } from "../fakes/platform.js";
import { Bridge } from "./engine/bridge.js";
import { bundle } from "./engine/bundle.js";
import { nodeHost } from "./engine/node-host.js";
import { testOnXs } from "./engine/on-xs.js";
import { atFakeTime, ENTRY as CORE } from "./engine/still.js";
import { texts } from "./guest/texts.js";
import { MEMBERS, READERS } from "./guest/wide.js";

test("src links with nothing: one neutral script with the host that refuses runs without any machine", async (t) => {
  const script = await bundle(`
    import { none } from "./hosts/none.ts";
    import { Agent } from "./src/index.ts";
    globalThis.made = new Agent(none, { baseUrl: "https://platform.example.com", token: "T1" });
  `);
  const globals: { made?: mote.Agent } = {};
  // Without the globals of Node: what is not of the language itself would throw.
  const hidden = [
    "process",
    "require",
    "Buffer",
    "console",
    "setTimeout",
    "setImmediate",
    "queueMicrotask",
    "URL",
  ];
  new Function("globalThis", ...hidden, script)(globals);
  t.is(globals.made?.state, "stopped");
});

testOnXs("the core evaluates on XS and has all its public names", async (t) => {
  const bridge = await Bridge.start(none, { entry: CORE });
  t.deepEqual(await bridge.run("Object.keys(mote).sort()"), Object.keys(mote).sort());
  await bridge.close();
});

// The sample application on XS.

const SAMPLE = `import setUp, { firmware } from "./examples/sample/app.ts";
  import { Agent } from "./src/index.ts";
  globalThis.begin = () => {
    const options = { baseUrl: "http://platform.test", token: "T1", firmware: { ...firmware, allowHttp: true } };
    globalThis.agent = new Agent(host, options);
    setUp(agent, { ...host, settings: { intervalMs: 1000 } });
    agent.start();
  };`;

/** Starts the sample as a new image on trial. `call`: resolves with the answer to an RPC. */
async function beginSample(t: ExecutionContext) {
  const host = fakeHost();
  host.slot.current = "pending";
  const platform = new FakePlatform(host.clock, host.net);
  const device = platform.create("sample", "T1");
  const { bridge, clock } = await atFakeTime(t, host, { entry: SAMPLE });
  await bridge.run(`begin()`);
  await clock.advance(60_000);
  t.is(await bridge.run("agent.state"), "online");
  t.is(typeof platform.latest(device, "temperature"), "number");
  const call = async (method: string, params: object): Promise<unknown> => {
    const results = platform.rpc(device, method, params);
    await clock.advance(5000);
    return JSON.parse((results[0] as { text: string }).text);
  };
  return { host, platform, device, call };
}

testOnXs("the sample on XS confirms a new image, calls the platform and can be claimed", async (t) => {
  const { host, platform, device, call } = await beginSample(t);
  t.is(host.slot.current, "confirmed");
  const { answer } = (await call("callPlatform", {})) as { answer: number };
  t.true(Math.abs(host.clock.wall()! - answer) < 10_000, `${answer}`);
  t.deepEqual(await call("claim", { secretKey: "s3cret" }), { claiming: true });
  t.is(platform.core.claiming.claim(device, "customer", "s3cret"), "SUCCESS");
});

testOnXs("values, documents, paths and checksums come out the same on XS and on Node", async (t) => {
  const entry = 'import { texts } from "./test/xs/guest/texts.ts"; globalThis.texts = texts;';
  const bridge = await Bridge.start(none, { entry });
  const [here, there] = [texts(), (await bridge.run("texts()")) as string[]];
  t.true(here.length > 400);
  t.deepEqual(there, here);
  await bridge.close();
});

// Diagnostics and reset on the XS engine: as many slots after ten thousand errors as after a
// hundred, and a reset as on Node.

const NAME = "greenhouse-7";
const HOUR = 3_600_000;
const ENTRY = `import { Agent } from "./src/index.ts";
  import { Diagnostics } from "./extras/diagnostics/index.ts";
  globalThis.begin = () => {
    globalThis.agent = new Agent(host, {
      baseUrl: "http://platform.test",
      provisioning: { key: "${KEY}", secret: "${SECRET}", deviceName: "${NAME}" },
    });
    globalThis.diagnostics = new Diagnostics(agent, { ...host, lastRun: { reset: "panic", crash: "any" } }, {
      freeMemory: () => 4711,
    });
    agent.start();
  };
  globalThis.wrong = (times) => { for (let n = 0; n < times; n++) { try { agent.telemetry.record({ "": n % 7 }); } catch {} } };`;

async function begin(t: ExecutionContext) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  const net = new FakeNet(clock);
  const platform = new FakePlatform(clock, net);
  const blocks = new FakeFlash(4 * 4096, 4096);
  const { bridge } = await atFakeTime(t, fakeHost({ clock, network: net, blocks }), { entry: ENTRY });
  await bridge.run("begin()");
  await clock.advance(5000);
  return { clock, platform, bridge };
}

testOnXs(
  "diagnostics hold as many slots and chunks after 10,000 errors as after 100, and answer mote.health",
  async (t) => {
    const { clock, platform, bridge } = await begin(t);
    await bridge.run("wrong(100); undefined");
    await clock.advance(2 * HOUR);
    const before = [await bridge.slots(), await bridge.chunks()] as const;
    await bridge.run("wrong(10000); undefined");
    await clock.advance(2 * HOUR);
    const grown = [(await bridge.slots()) - before[0], (await bridge.chunks()) - before[1]] as const;
    t.log(`${grown[0]} slots and ${grown[1]} bytes of chunks more`);
    // Each run of a script keeps one; a longer count takes a digit more.
    t.true(grown[0] <= 4 && grown[1] <= 128, `${grown}`);
    const device = platform.device(NAME);
    const results = platform.rpc(device, "mote.health", null);
    await clock.advance(5000);
    const health = JSON.parse((results[0] as { text: string }).text);
    t.like(health, { state: "online", leastFree: 4711, resets: { panic: 1 }, queueDepth: 0 });
    t.is(health.errors.at(-1).code, "BAD_VALUE");
    t.is(health.errors.at(-1).times, 10_100);
    t.is(platform.attributes(device).moteErrors, "10100x BAD_VALUE");
  },
);

// Signatures of images, checked on XS with numbers of the engine's own.

const P256_ENTRY = `
  import { isSignedBy, toPublicKey, toSignature } from "./src/wire/crypto/p256.ts";
  globalThis.check = (key, digest, signature) =>
    isSignedBy(toPublicKey(key), digest, toSignature(signature), () => Promise.resolve());`;

testOnXs("a signature is checked on XS, and a changed one is found", async (t) => {
  const bridge = await Bridge.start(none, { entry: P256_ENTRY });
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = publicKey.export({ type: "spki", format: "der" }).subarray(-65).toString("hex");
  const image = Buffer.from("an image");
  const digest = createHash("sha256").update(image).digest("hex");
  const signature = sign("sha256", image, privateKey).toString("hex");
  const since = performance.now();
  t.true(await bridge.run(`check("${key}", "${digest}", "${signature}")`));
  t.log(`${Math.round(performance.now() - since)} ms on this machine`);
  const other = createHash("sha256").update("another image").digest("hex");
  t.false(await bridge.run(`check("${key}", "${other}", "${signature}")`));
  await bridge.close();
});

// The redactor on the engine of a board: the same answers as on Node, at a cost that the length of
// a text bounds.

const REDACTOR_ENTRY = `import { SecretRedactor } from "./src/wire/text/redactor.ts";
  globalThis.redactor = new SecretRedactor();`;
const TOKEN = "q7RtYb2mXw9KcVh4Zs6N";
const OWN = [TOKEN, "provision-key", "provision-secret", "correct horse battery", 'p&"\\ %41+/ß€😀'];
/**
 * Steps for each byte of a text at the worst, and for each text; a line of a log takes a tenth of
 * that.
 */
const STEPS = 1500;
const MORE = 20_000;
/** A text that shows a secret is looked at again, word by word, and once it is clean. */
const LOOKS = 4;

const redactorTexts = (): string[] => {
  const plain = "provisioned as greenhouse-7, 21.5 degrees, 0x42001234, https://platform.example.com/api";
  const secret = OWN.flatMap((one) => [one, encodeURIComponent(one), JSON.stringify(one)]);
  return [
    plain,
    "x",
    "the sensor is gone: no answer at 0x44 (3 tries)",
    "online",
    ...secret,
    "A".repeat(2000),
    "%41".repeat(600),
    "\\".repeat(2000),
    "0".repeat(2000),
  ];
};

testOnXs("the redactor finds the same on XS as on Node, within so many steps a byte", async (t) => {
  const host = fakeHost();
  const here = new SecretRedactor();
  const bridge = await Bridge.start(host, { entry: REDACTOR_ENTRY });
  t.teardown(() => bridge.close());
  for (const one of OWN) {
    here.pin(one);
    await bridge.run(`redactor.pin(${JSON.stringify(one)})`);
  }
  // More than there is room for, of one letter: the worst that a peer can name.
  for (let n = 0; n < 40; n++) {
    here.conceal("a".repeat(20 + n));
    await bridge.run(`redactor.conceal("a".repeat(${20 + n}))`);
  }
  const cost: string[] = [];
  for (const text of redactorTexts()) {
    await bridge.run(`globalThis.text = ${JSON.stringify(text)}; undefined`);
    const begin = bridge.compute;
    await bridge.run("text");
    const before = bridge.compute + (bridge.compute - begin);
    const there = await bridge.run(`redactor.clean(text)`);
    const steps = bridge.compute - before;
    cost.push(`${text.slice(0, 16)}: ${Math.round(steps / Buffer.byteLength(text))} steps a byte`);
    t.is(there, here.clean(text), text.slice(0, 80));
    const looks = there === text ? 1 : LOOKS;
    t.true(
      steps < looks * (MORE + STEPS * Buffer.byteLength(text)),
      `${steps} steps for ${text.slice(0, 40)}`,
    );
  }
  t.log(cost);
});

// A board's engine has 640 slots of stack and ends when they are full: no data of a peer may take
// a slot for each of its members.

const _called = (count: number): string =>
  `Math.max(...Array.from({ length: ${count} }, () => 1)); undefined`;

for (const name of Object.keys(READERS)) {
  testOnXs(`${name} of ${MEMBERS} members is read on a board's stack`, async (t) => {
    const entry = 'import { MEMBERS, READERS } from "./test/xs/guest/wide.ts"; globalThis.readers = READERS;';
    const bridge = await Bridge.start(nodeHost(t), { entry });
    t.teardown(() => bridge.close());
    await t.notThrowsAsync(bridge.run(`void readers[${JSON.stringify(name)}]()`));
  });
}

// Report on change on the XS engine: the same decisions as on Node, in memory that does not grow
// with the values.

/** Bytes of a slot on an ESP32. */
const SLOT = 16;
const VALUES = 10_000;

/** An agent that only counts: what is recorded goes nowhere. The same text runs on both engines. */
const AGENT = `({
  telemetry: {
    check: (values) => host.encode(encodeValues(values).text),
    record: (values) => { seen.sum = seen.sum * 31 % 65521 + JSON.stringify(values).length; seen.points++; return true; },
  },
  on: () => () => {},
})`;
const REPORTS_ENTRY = `import { ReportOnChange } from "./extras/report-on-change/index.ts";
  import { encodeValues } from "./src/wire/values.ts";
  globalThis.encodeValues = encodeValues;
  globalThis.ReportOnChange = ReportOnChange;
  globalThis.seen = { sum: 0, points: 0 };
  globalThis.fromParent = (what, n) => reports.record(JSON.parse(what));`;
const KEYS = {
  band: { onChange: 0.3, onChangePercent: 2 },
  beat: { heartbeatMs: 30_000 },
  power: { windowMs: 60_000 },
  all: { onChange: 1, heartbeatMs: 20_000, windowMs: 10_000 },
  mode: { onChange: 0 },
};

const valuesAt = (n: number): Record<string, unknown> => ({
  band: Math.round(Math.sin(n / 50) * 1000) / 100,
  beat: n % 97,
  power: (n % 13) / 8,
  all: Math.round(Math.cos(n / 30) * 500) / 100,
  mode: n % 40 < 20 ? "auto" : "hand",
  free: n % 500 === 0,
});

const onXs = (t: ExecutionContext) => atFakeTime(t, fakeHost(), { entry: REPORTS_ENTRY });

const make = (keys: object): string =>
  `globalThis.reports = new ReportOnChange(${AGENT}, host, { keys: ${JSON.stringify(keys)} })`;

testOnXs(
  `report on change holds as many slots and chunks after ${VALUES} values of each key as after 100`,
  async (t) => {
    const { bridge, clock } = await onXs(t);
    await bridge.run(`${make(KEYS)}; undefined`);
    const seen = { sum: 0, points: 0 };
    const reference = referenceOnNode(seen);
    let few = 0;
    let fewChunks = 0;
    for (let n = 0; n < VALUES; n++) {
      const values = valuesAt(n);
      bridge.notify(JSON.stringify(values), n);
      reference.record(values);
      await Promise.all([clock.advance(500), reference.clock.advance(500)]);
      if (n === 99 || n === VALUES - 1) {
        // At the same place of the windows and of the texts.
        const [slots, chunks] = [await bridge.slots(), await bridge.chunks()];
        if (n === 99) [few, fewChunks] = [slots, chunks];
        else {
          t.is(slots, few);
          t.is(chunks, fewChunks);
        }
      }
    }
    t.true(seen.points > 1000);
    t.deepEqual(await bridge.run("seen"), seen);
  },
);

function referenceOnNode(seen: object) {
  const clock = new FakeClock(Date.UTC(2026, 0, 1));
  clock.settled = () => Promise.resolve();
  const host = fakeHost({ clock });
  const agent = new Function("host", "seen", "encodeValues", `return ${AGENT}`)(host, seen, encodeValues);
  const reports = new ReportOnChange(agent as ReportOnChangeAgent, host, { keys: KEYS });
  return { clock, record: (values: Record<string, unknown>) => reports.record(values) };
}

testOnXs(
  "a key takes less than 700 bytes on a board, with all rules, a window under way and a text",
  async (t) => {
    const { bridge } = await onXs(t);
    const keysOf = (many: number) =>
      Object.fromEntries(
        Array.from({ length: many }, (_, i) => [
          `key${i}`,
          { onChange: 1.5, onChangePercent: 2.5, heartbeatMs: 60_000, windowMs: 60_000 },
        ]),
      );
    const measured: [number, number][] = [];
    for (const many of [2, 32]) {
      await bridge.run(`${make(keysOf(many))}; undefined`);
      for (const value of [1.25, "a text of forty characters, more or less"])
        await bridge.run(
          `reports.record(Object.fromEntries(Array.from({ length: ${many} }, (_, i) => ["key" + i, ${JSON.stringify(value)}])))`,
        );
      measured.push([await bridge.slots(), await bridge.chunks()]);
      await bridge.run("reports.close(); globalThis.reports = undefined");
    }
    const [[slots, chunks], [moreSlots, moreChunks]] = measured as [[number, number], [number, number]];
    const [slotsEach, chunksEach] = [(moreSlots - slots) / 30, (moreChunks - chunks) / 30];
    t.log(`${slotsEach.toFixed(1)} slots and ${Math.round(chunksEach)} bytes of chunks a key`);
    t.true(slotsEach > 10 && slotsEach * SLOT + chunksEach < 700, `${slotsEach}, ${chunksEach}`);
  },
);
