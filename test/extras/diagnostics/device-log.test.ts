import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import {
  addDiagnostics,
  DeviceLog,
  type LogAnswer,
  type LogOptions,
} from "../../../extras/diagnostics/index.js";
import { escaped } from "../../../extras/diagnostics/line-text.js";
import { Agent, type AgentOptions, type LastRun } from "../../../src/index.js";
import { fakeHost } from "../../fakes/host.js";
import { SECRET } from "../../fakes/platform.js";
import { NAME, type Rig, startRig } from "../../src/agent/rig.js";
import { FakeLogMemory } from "./memory.js";

const MINUTE = 60_000;
const LEVELS = ["info", "warn", "error"] as const;

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
  // The rig makes a host for each agent: its lines go through the log that is made here, from the
  // first one on.
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

async function ask(rig: Rig): Promise<LogAnswer> {
  const results = await rig.call("mote.log", {}, 3000);
  const [result] = results;
  if (result?.kind !== "answer") throw new Error(JSON.stringify(results));
  return JSON.parse(result.text);
}

const texts = ({ lines }: LogAnswer): string[] => lines.map(([, , text]) => text);

/** A device that is online and keeps its lines. */
async function online(t: ExecutionContext, run: LogOptions & Partial<LastRun> = {}) {
  const rig = startRig(t);
  const memory = new FakeLogMemory(4096);
  const running = start(rig, memory, run);
  await rig.clock.advance(5000);
  return { rig, memory, running, kept: running.kept };
}

const stop = async (rig: Rig, { agent }: Running): Promise<void> => {
  await Promise.all([agent.stop(), rig.clock.advance(0)]);
};

test("the lines of a run and of the one before, with uptime and level, and what crashed", async (t) => {
  const { rig, memory, kept } = await online(t, { build: "aa", reset: "power on" });
  kept.log("warn", "the sensor is gone");
  rig.powerOff();
  const place = { build: "aa", backtrace: "0x42001234 0x4200abcd" };
  start(rig, memory, { build: "bb", reset: "panic", crash: "panic", place });
  await rig.clock.advance(5000);
  const answer = await ask(rig);
  t.deepEqual(
    answer.lines.map(([, level, text]) => [level, text]),
    [
      ["info", "start: power on"],
      ["info", `provisioned as ${NAME}`],
      ["info", "online"],
      ["warn", "the sensor is gone"],
      ["info", "start: panic"],
      ["error", "backtrace of aa: 0x42001234 0x4200abcd"],
      ["error", "the run before ended with: panic"],
      ["info", `provisioned as ${NAME}`],
      ["info", "online"],
    ],
  );
  t.is(answer.lines[3]?.[0], 5);
  t.is(answer.build, "bb");
});

test("a reset leaves no line of the owner before", async (t) => {
  const { rig, memory, kept } = await online(t);
  kept.log("info", "the owner's words");
  await rig.call("mote.reset", { confirm: true }, MINUTE);
  t.deepEqual(rig.host.restarts, ["reset"]);
  const left = Buffer.from(memory.bytes).toString("latin1");
  t.false(left.includes("owner"));
  t.false(left.includes(NAME));
});

// Each form of a secret: test/src/wire/redactor.test.ts.
test("no secret of a device is in a kept line at any level, whoever logs it", async (t) => {
  const { rig, memory, running, kept } = await online(t);
  const raw: string[] = [];
  const look = (): number => raw.push(Buffer.from(memory.bytes).toString("utf8"));
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

// The kept lines without a platform: answers of any size.

test("lines of any text at any level leave answers that are JSON within their bytes", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.constantFrom(...LEVELS), fc.string({ unit: "binary", maxLength: 300 })), {
          maxLength: 60,
        }),
        fc.integer({ min: 256, max: 9000 }),
        (lines, bytes) => {
          const host = fakeHost();
          const kept = new DeviceLog(
            { ...host, log: () => {}, lastRun: { reset: "panic", crash: '\n"'.repeat(100) } },
            { build: "0123456789abcdef" },
          );
          for (const [level, line] of lines) kept.log(level, line);
          const answer = kept.answer(bytes);
          const text = JSON.stringify(answer);
          const all = texts(kept.answer(65_536));
          const newest = all.slice(all.length - answer.lines.length);
          return (
            host.encode(text).length <= bytes &&
            JSON.stringify(texts(answer)) === JSON.stringify(newest) &&
            !/\p{Cc}/u.test(text)
          );
        },
      ),
      { numRuns: 300 },
    ),
  );
});

// What a line may show: nothing that moves a cursor, and no half of a letter.

const _host = fakeHost();

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

test("one call adds the log and the health, and what one of them logs is stored", async (t) => {
  const rig = startRig(t);
  let added: ReturnType<typeof addDiagnostics> | undefined;
  class Diagnosed extends Agent {
    constructor(host: ConstructorParameters<typeof Agent>[0], given: AgentOptions) {
      added = addDiagnostics({ ...host, lastRun: { reset: "panic", crash: "panic" } }, { build: "cc" });
      super(added.host as typeof host, given);
    }
  }
  const agent = rig.agent({ connections: 2 }, Diagnosed);
  added!.attach(agent, { freeMemory: () => 4711 });
  agent.start();
  await rig.clock.advance(5000);
  t.true(texts(await ask(rig)).includes("the run before ended with: panic"));
  const [health] = await rig.call("mote.health", null, 3000);
  t.like(JSON.parse((health as { text: string }).text), { leastFree: 4711, resets: { panic: 1 } });
});
