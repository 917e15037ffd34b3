import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import { DeviceLog, type LogAnswer, type LogOptions } from "../../../extras/log/index.js";
import { checkRequest } from "../../../extras/log/request.js";
import { LONGEST } from "../../../extras/log/ring.js";
import { escaped, fitting } from "../../../extras/log/text.js";
import { Agent, type AgentOptions, type LastRun } from "../../../src/index.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { SECRET } from "../../fakes/platform.js";
import { NAME, type Rig, startRig } from "../../src/agent/rig.js";
import { FakeLogMemory } from "./memory.js";

const MINUTE = 60_000;
const ATTRIBUTE = "moteLogLevel";
const LEVELS = ["debug", "info", "warn", "error"] as const;

interface Running {
  agent: Agent;
  kept: DeviceLog;
}

/** A start of a device that keeps its lines in `memory`. */
function start(
  rig: Rig,
  memory: FakeLogMemory,
  { build, ...run }: LogOptions & Partial<LastRun> = {},
  options: Partial<AgentOptions> = {},
): Running {
  let kept: DeviceLog | undefined;
  // The rig makes a host for each agent: its lines go through the log that is made here, from the first one on.
  class Kept extends Agent {
    constructor(host: ConstructorParameters<typeof Agent>[0], given: AgentOptions) {
      const { reset, crash = false } = run;
      const lastRun = reset === undefined ? undefined : { ...run, reset, crash };
      kept = new DeviceLog({ ...host, logMemory: memory, lastRun }, { build });
      super(kept.over(host), given);
    }
  }
  const agent = rig.agent({ connections: 2, ...options }, Kept);
  kept!.attach(agent);
  agent.start();
  return { agent, kept: kept! };
}

async function ask(rig: Rig, params: unknown = {}): Promise<LogAnswer & { error?: { code: string } }> {
  const results = await rig.call("mote.log", params, 3000);
  const [result] = results;
  if (result?.kind !== "answer") throw new Error(JSON.stringify(results));
  return JSON.parse(result.text);
}

const texts = ({ lines }: LogAnswer): string[] => lines.map(([, , , text]) => text);

/** A device that is online and keeps its lines. */
async function online(t: ExecutionContext, run: LogOptions & Partial<LastRun> = {}) {
  const rig = startRig(t);
  const memory = new FakeLogMemory(4096);
  const running = start(rig, memory, run);
  await rig.clock.advance(5000);
  return { rig, memory, running, kept: running.kept };
}

const stop = async (rig: Rig, { agent, kept }: Running): Promise<void> => {
  kept.close();
  await Promise.all([agent.stop(), rig.clock.advance(0)]);
};

test("the lines of a run and of the one before, with number, uptime and level, and what crashed", async (t) => {
  const { rig, memory, kept } = await online(t, { build: "aa", reset: "power on" });
  kept.log("warn", "the sensor is gone");
  kept.log("debug", "nobody asked for this");
  rig.powerOff();
  const place = { build: "aa", backtrace: "0x42001234 0x4200abcd" };
  start(rig, memory, { build: "bb", reset: "panic", crash: "panic", place });
  await rig.clock.advance(5000);
  const answer = await ask(rig);
  t.deepEqual(
    answer.lines.map(([number, , level, text]) => [number, level, text]),
    [
      [1, "info", "start: power on"],
      [2, "info", `provisioned as ${NAME}`],
      [3, "info", "online"],
      [4, "warn", "the sensor is gone"],
      [5, "info", "start: panic"],
      [6, "error", "backtrace of aa: 0x42001234 0x4200abcd"],
      [7, "error", "the run before ended with: panic"],
      [8, "info", `provisioned as ${NAME}`],
      [9, "info", "online"],
    ],
  );
  t.is(answer.lines[3]?.[1], 5);
  t.like(answer, { build: "bb", level: "info", lost: 0, more: false, since: 9 });
  t.deepEqual(texts(await ask(rig, { level: "warn" })), [
    "the sensor is gone",
    "backtrace of aa: 0x42001234 0x4200abcd",
    "the run before ended with: panic",
  ]);
});

test("a follower misses no line and sees none twice, however many come and whatever fits", async (t) => {
  const { rig, kept } = await online(t);
  let { since } = await ask(rig);
  const seen: string[] = [];
  const sent: string[] = [];
  let lost = 0;
  let more = false;
  for (let round = 0; round < 40 || more; round++) {
    // Now and then more than the ring holds.
    for (let n = 0; round < 40 && n < (round % 8 === 7 ? 100 : round % 5); n++) {
      sent.push(`line "${sent.length}" of many, ${"\\".repeat(round)}`);
      kept.log("info", sent.at(-1)!);
    }
    const bytes = [256, 512, 2000, 8192][round % 4]!;
    const answer = await ask(rig, { since, bytes });
    t.true(JSON.stringify(answer).length <= bytes, `${JSON.stringify(answer).length} bytes of ${bytes}`);
    t.true(!answer.more || answer.lines.length > 0);
    seen.push(...texts(answer));
    lost += answer.lost;
    since = answer.since;
    more = answer.more;
  }
  t.true(lost > 50);
  t.is(seen.length + lost, sent.length);
  let at = 0;
  for (const line of seen) {
    // One alone that is longer than the answer may be is shortened.
    const found = sent.findIndex((one, index) => index >= at && one.startsWith(line));
    t.true(found >= at, line);
    at = found + 1;
  }
});

test("each wrong shape of the parameters is answered with BAD_PARAMS", (t) => {
  for (const params of [
    ...[[], "warn", 7, true, { level: "loud" }, { level: 1 }, { level: null }, { levels: "warn" }],
    ...[255, 65_537, 300.5, "2000"].map((bytes) => ({ bytes })),
    ...[-1, 1.5, "1", 2 ** 32, null].map((since) => ({ since })),
    { __proto__: null, constructor: 1 },
  ])
    t.throws(() => checkRequest(params), { code: "BAD_PARAMS" }, JSON.stringify(params));
  for (const params of [null, {}, { level: "debug", bytes: 256, since: 0 }])
    t.notThrows(() => checkRequest(params));
});

test("the attribute changes the level for an hour, over restarts, and only once per value", async (t) => {
  let { rig, memory, running } = await online(t);
  const level = async (): Promise<string> => (await ask(rig)).level;
  const { device } = rig;
  t.is(await level(), "info");
  rig.platform.setShared(device, { [ATTRIBUTE]: "debug" });
  await rig.clock.advance(MINUTE);
  t.is(await level(), "debug");
  running.kept.log("debug", "seen now");
  t.true(texts(await ask(rig)).includes("seen now"));
  await rig.clock.advance(20 * MINUTE);
  await stop(rig, running);
  running = start(rig, memory, { reset: "panic" });
  await rig.clock.advance(MINUTE);
  t.is(await level(), "debug");
  await rig.clock.advance(36 * MINUTE);
  t.is(await level(), "debug");
  await rig.clock.advance(3 * MINUTE);
  t.is(await level(), "info");
  // The value is still there.
  await stop(rig, running);
  running = start(rig, memory, { reset: "software" });
  await rig.clock.advance(5 * MINUTE);
  t.is(await level(), "info");
  rig.platform.setShared(device, { [ATTRIBUTE]: "error" });
  await rig.clock.advance(MINUTE);
  t.is(await level(), "error");
  running.kept.log("warn", "not kept");
  rig.platform.deleteShared(device, [ATTRIBUTE]);
  await rig.clock.advance(MINUTE);
  t.is(await level(), "info");
  t.false(texts(await ask(rig)).includes("not kept"));
  rig.platform.setShared(device, { [ATTRIBUTE]: { level: "debug" } });
  await rig.clock.advance(MINUTE);
  t.is(await level(), "info");
  t.regex(texts(await ask(rig)).at(-1) ?? "", /"moteLogLevel" is invalid: expected debug, info, warn, error/);
  await stop(rig, running);
});

test("a reset leaves no line of the owner before, nor the level that was asked for", async (t) => {
  const { rig, memory, kept } = await online(t);
  rig.platform.setShared(rig.device, { [ATTRIBUTE]: "debug" });
  await rig.clock.advance(MINUTE);
  kept.log("info", "the owner's words");
  await rig.call("mote.reset", { confirm: true }, MINUTE);
  t.deepEqual(rig.host.restarts, ["reset"]);
  const left = Buffer.from(memory.bytes).toString("latin1");
  t.false(left.includes("owner"));
  t.false(left.includes(NAME));
  t.is(new DeviceLog({ ...rig.host, logMemory: memory }).answer(checkRequest({}), 8192).level, "info");
  kept.close();
});

// Each form of a secret: test/src/wire/redactor.test.ts.
test("no secret of a device is in a kept line at any level, whoever logs it", async (t) => {
  const { rig, memory, running, kept } = await online(t);
  const raw: string[] = [];
  const look = (): number => raw.push(Buffer.from(memory.bytes).toString("utf8"));
  rig.platform.setShared(rig.device, { [ATTRIBUTE]: "debug" });
  await rig.clock.advance(MINUTE);
  const [wifi, secretKey] = ['quo"ted\'s \\"Wi-Fi\\"', "%41%42%43%44 & claim"];
  kept.conceal(wifi);
  await rig.clock.untilSettled(running.agent.claim({ secretKey, durationMs: 1000 }));
  const secrets = [rig.device.credentials.credentialsId, SECRET, secretKey, wifi];
  // An application that does what it must not.
  for (const one of secrets)
    for (const level of LEVELS) {
      kept.log(level, `sent ${one} to nobody`);
      kept.log(level, JSON.stringify({ password: one }));
      kept.log(level, `GET /api/v1/${encodeURIComponent(one)}/rpc`);
    }
  look();
  rig.platform.core.deleteDevice(rig.device);
  await rig.clock.advance(5 * MINUTE);
  look();
  for (const one of secrets)
    for (const form of [one, JSON.stringify(one).slice(1, -1), encodeURIComponent(one)])
      t.false(raw.join().includes(form), form);
});

test("a line that was kept before its secret was known is cleaned when it is read", async (t) => {
  const { rig, memory, running } = await online(t);
  running.kept.log("info", "the garden has hunter2-the-second as its password");
  await stop(rig, running);
  const { kept } = start(rig, memory, { reset: "software" });
  await rig.clock.advance(5000);
  kept.log("info", "another hunter2-the-second, before it is named");
  kept.conceal("hunter2-the-second");
  const shown = texts(await ask(rig));
  t.false(shown.join().includes("hunter"), shown.join("; "));
  t.is(shown.filter((line) => line.includes("***")).length, 2);
  t.true(shown.includes("start: software"));
});

// The kept lines without a platform: answers of any size, another ring, and a device that sleeps.

test("a device that sleeps counts each start as a minute: no level lasts for ever", (t) => {
  const memory = new FakeLogMemory(4096);
  const host = fakeHost();
  let call: (value: unknown) => void = () => {};
  const agent = {
    on: () => () => {},
    rpc: { handle: () => {}, answerBytes: 8192 },
    attributes: {
      subscribe: (_: string, subscriber: typeof call) => {
        call = subscriber;
      },
    },
  };
  const wake = (): DeviceLog => {
    const kept = new DeviceLog({ ...host, logMemory: memory });
    kept.attach(agent as never);
    call("debug");
    kept.close();
    return kept;
  };
  wake();
  let starts = 0;
  while (wake().answer(checkRequest({}), 8192).level === "debug") starts++;
  t.is(starts, 59);
});

test("lines of any text at any level leave answers that are JSON within their bytes", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...LEVELS), fc.string({ unit: "binary", maxLength: 300 })), {
          maxLength: 60,
        }),
        fc.integer({ min: 256, max: 9000 }),
        fc.option(fc.nat(70), { nil: undefined }),
        (lines, bytes, since) => {
          const host = fakeHost();
          const kept = new DeviceLog(
            { ...host, log: () => {}, lastRun: { reset: "panic", crash: '\n"'.repeat(100) } },
            { build: "0123456789abcdef" },
          );
          for (const [level, line] of lines) kept.log(level, line);
          const request = { level: 0, bytes, since };
          const answer = kept.answer(request, 8192);
          const text = JSON.stringify(answer);
          const numbers = answer.lines.map(([number]) => number);
          const inOrder = numbers.every((number, at) => at === 0 || number === numbers[at - 1]! + 1);
          return (
            host.encode(text).length <= Math.min(bytes, 8192) &&
            inOrder &&
            !/\p{Cc}/u.test(text) &&
            (since !== undefined || answer.since === (numbers.at(-1) ?? answer.since))
          );
        },
      ),
      { numRuns: 300 },
    ),
  );
});

test("after a power-on a follower's number is of another ring, and it gets all there is", (t) => {
  const clock = new FakeClock(undefined);
  const host = fakeHost({ clock, lastRun: { reset: "power on", crash: false } });
  const kept = new DeviceLog(host);
  kept.log("info", "one");
  const answer = kept.answer(checkRequest({ since: 4000 }), 8192);
  t.deepEqual(texts(answer), ["start: power on", "one"]);
  t.not(answer.log, new DeviceLog(fakeHost({ seed: 2 })).answer(checkRequest({}), 8192).log);
});

// What a line may show: nothing that moves a cursor, and no half of a letter.

const host = fakeHost();

test("control characters are written out, whatever they are", (t) => {
  t.is(
    escaped("a\u001b[2Jb\nc\rd\u009be\u202ef\u2028g\u0000"),
    "a\\x1b[2Jb\\nc\\x0dd\\x9be\\u202ef\\u2028g\\x00",
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (line) => !/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(escaped(line)),
      ),
    ),
  );
});

test("a line is cut between two letters", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 50, maxLength: 400 }), (line) => {
        const bytes = fitting(host, line);
        const text = host.decode(bytes);
        const whole = host.encode(line);
        return (
          text !== undefined &&
          line.startsWith(text) &&
          bytes.length <= LONGEST &&
          (bytes.length === whole.length || bytes.length > LONGEST - 4)
        );
      }),
    ),
  );
});
