// The kept lines without a platform: answers of any size, another ring, and a device that sleeps.
import test from "ava";
import fc from "fast-check";
import { DeviceLog } from "../../../extras/log/index.js";
import { checkRequest } from "../../../extras/log/request.js";
import type { LogAnswer } from "../../../extras/log/types.js";
import { FakeClock } from "../../fakes/clock.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeLogMemory } from "./memory.js";

const texts = ({ lines }: LogAnswer): string[] => lines.map(([, , , text]) => text);

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
    kept.attend(agent as never);
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
        fc.array(
          fc.tuple(
            fc.constantFrom("debug", "info", "warn", "error"),
            fc.string({ unit: "binary", maxLength: 300 }),
          ),
          {
            maxLength: 60,
          },
        ),
        fc.integer({ min: 256, max: 9000 }),
        fc.option(fc.nat(70), { nil: undefined }),
        (lines, bytes, since) => {
          const host = fakeHost();
          const kept = new DeviceLog(
            { ...host, log: () => {}, lastRun: { reset: "panic", crash: '\n"'.repeat(100) } },
            { build: "0123456789abcdef" },
          );
          for (const [level, line] of lines) kept.log(level as "info", line);
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
