import test from "ava";
import { askTimeServer, type Datagrams } from "../../../../hosts/esp32/network/time-server.js";
import { FakeClock } from "../../../fakes/clock.js";

const NOW = Date.UTC(2026, 10, 22) / 1000;

/** A time server: what it answers to a question. */
function rig(
  answer: (question: Buffer, n: number) => Buffer | undefined,
  address: string | null = "10.0.0.1",
) {
  const clock = new FakeClock();
  const seen = { asked: 0, opened: 0, closed: 0, to: "" };
  const datagrams: Datagrams = {
    resolve: (_, found) => void clock.timer(10, () => found(address ?? undefined)),
    open: (received) => {
      seen.opened++;
      return {
        write: (bytes, to, port) => {
          seen.to = `${to}:${port}`;
          const back = answer(Buffer.from(bytes), seen.asked++);
          if (back) clock.timer(20, () => received(new Uint8Array(back)));
        },
        close: () => void seen.closed++,
      };
    },
  };
  const received: (number | undefined)[] = [];
  const random = (into: Uint8Array): void => void into.fill(7);
  askTimeServer("time.test", datagrams, { clock, random }, (seconds) => received.push(seconds));
  return { clock, seen, received };
}

function answerTo(question: Buffer, seconds: number): Buffer {
  const answer = Buffer.alloc(48);
  answer[0] = 0x24;
  answer[1] = 2;
  question.copy(answer, 24, 40, 48);
  answer.writeUInt32BE((seconds + 2_208_988_800) % 2 ** 32, 40);
  return answer;
}

test("the time is that of the server's answer", async (t) => {
  const { clock, seen, received } = rig((question) => answerTo(question, NOW));
  await clock.advance(100_000);
  t.deepEqual(received, [NOW]);
  t.deepEqual(seen, { asked: 1, opened: 1, closed: 1, to: "10.0.0.1:123" });
});

test("the NTP era that begins in 2036 is the next one", async (t) => {
  const later = Date.UTC(2037, 0, 1) / 1000;
  const { clock, received } = rig((question) => answerTo(question, later));
  await clock.advance(1000);
  t.deepEqual(received, [later]);
});

for (const [what, change] of [
  ["to another question", (answer: Buffer) => answer.fill(1, 24, 32)],
  ["of a client", (answer: Buffer) => answer.writeUInt8(0x23, 0)],
  ["of a server that does not know", (answer: Buffer) => answer.writeUInt8(0, 1)],
  ["without a time", (answer: Buffer) => answer.writeUInt32BE(0, 40)],
] as const)
  test(`an answer ${what} is none, and the next question has one`, async (t) => {
    const { clock, seen, received } = rig((question, n) => {
      const answer = answerTo(question, NOW);
      if (n === 0) change(answer);
      return answer;
    });
    await clock.advance(100_000);
    t.deepEqual(received, [NOW]);
    t.is(seen.asked, 2);
  });

test("an answer that is cut short is none", async (t) => {
  const { clock, received } = rig((question) => answerTo(question, NOW).subarray(0, 47));
  await clock.advance(100_000);
  t.deepEqual(received, [undefined]);
});

test("nobody answers, or the name is unknown: it is said once, and nothing stays open", async (t) => {
  const silent = rig(() => undefined);
  await silent.clock.advance(24_000);
  t.deepEqual(silent.received, []);
  await silent.clock.advance(100_000);
  t.deepEqual(silent.received, [undefined]);
  t.deepEqual(silent.seen, { asked: 5, opened: 1, closed: 1, to: "10.0.0.1:123" });
  t.is(silent.clock.waiting, 0);
  const unknown = rig(() => undefined, null);
  await unknown.clock.advance(100);
  t.deepEqual([unknown.received, unknown.seen.opened], [[undefined], 0]);
});

test("without a network it is asked again, and no exception reaches the SDK", async (t) => {
  const { clock, received } = rig(() => {
    throw new Error("no network");
  });
  await clock.advance(100_000);
  t.deepEqual(received, [undefined]);
});
