import { createHash } from "node:crypto";
import test from "ava";
import { nextPart } from "../../../../src/agent/firmware/download/from-platform.js";
import { Lamp } from "./updates/lamp.js";
import {
  atHalf,
  each,
  failed,
  firmwareOnly,
  LONG,
  lampWith,
  MINUTE,
  SIZE,
  UPDATED,
} from "./updates/reported.js";

each("an image of any size arrives whole", async (t, shape) => {
  for (const size of [9, 4095, 4096, 4097, 8192, 16_384, 32_768, 65_536]) {
    const lamp = lampWith(shape, {}, size);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED, `${size} bytes`);
    t.is(lamp.machine.fetched.bytes, size);
  }
});

each("after a restart midway 16 KiB are fetched again at most", async (t, shape) => {
  const lamp = lampWith(shape, {}, 40_000);
  atHalf(lamp, () => lamp.machine.off());
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.true(lamp.machine.fetched.bytes <= 40_000 + 16_384, `${lamp.machine.fetched.bytes}`);
  t.deepEqual(lamp.booted, ["1.0.0", "1.0.0", "2.0.0"]);
});

test("a failed download is tried again after 1 minute, 10 minutes and 1 hour, then no more", async (t) => {
  const lamp = lampWith({}, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500, body: "no" }));
  await lamp.pass(10 * 60 * MINUTE);
  const states = lamp.platform.points(lamp.device, "fw_state");
  const at = states.filter(({ value }) => value === "FAILED").map(({ ts }) => ts);
  const waits = at.slice(1).map((ms, i) => Math.round((ms - at[i]!) / MINUTE));
  t.deepEqual(waits, [1, 10, 60]);
});

test("a failed update waits over a restart, and is not tried at once", async (t) => {
  const lamp = lampWith({}, {});
  lamp.platform.fault = firmwareOnly(() => ({ status: 500, body: "no" }));
  await lamp.untilState("FAILED");
  lamp.machine.off();
  const asked = lamp.fetches.length;
  await lamp.pass(50_000);
  t.is(lamp.fetches.length, asked);
  await lamp.pass(20_000);
  t.true(lamp.fetches.length > asked);
});

test("bytes in the slot that cannot be read back after a restart are fetched again", async (t) => {
  const lamp = lampWith({}, {}, 40_000);
  atHalf(lamp, () => lamp.machine.off());
  let left = 1;
  lamp.onStart = () => {
    if (lamp.machine.starts !== 2) return;
    lamp.machine.slots[1].fails = (call, at) => call === "read" && at >= 4096 && left-- > 0;
  };
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the slot could not be written"));
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.booted, ["1.0.0", "1.0.0", "2.0.0"]);
});

test("a verified image is read back again if power is lost before it starts", async (t) => {
  const lamp = lampWith({}, {});
  await lamp.until(() => lamp.states.includes("VERIFIED"));
  lamp.machine.off();
  lamp.machine.slots[1].bytes[9000]! ^= 1;
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the slot does not contain the written bytes"));
  t.deepEqual(lamp.booted, ["1.0.0", "1.0.0"]);
});

test("progress is reported every 5 percent at most, or every 5 s", async (t) => {
  const percents: number[] = [];
  const onProgress = (percent: number) => void percents.push(percent);
  const lamp = lampWith({ connections: 3, firmware: { onProgress } }, {}, 50_000);
  await lamp.untilState("UPDATED");
  t.true(percents.length > 10 && percents.length <= 20, `${percents}`);
  t.true(percents.every((percent, i) => percent - (percents[i - 1] ?? 0) >= 5));
  const reported = lamp.platform.points(lamp.device, "fw_progress").map(({ value }) => value);
  t.deepEqual(reported, percents);
});

test("after stop() and start() in the middle of a download every part comes whole", async (t) => {
  const lamp = lampWith({ connections: 3 }, {}, 60_000);
  lamp.platform.fault = firmwareOnly(() => {
    Object.assign(lamp.machine.net.options, { segmentBytes: 2048, segmentMs: 3000 });
    return undefined;
  });
  await lamp.until(() => lamp.fetches.length === 1);
  await lamp.pass(20_000);
  void lamp.agent.stop();
  await lamp.pass(10);
  lamp.agent.start();
  await lamp.pass(200_000);
  // The second begins with the header alone, which is not believed over a stop.
  const asked = lamp.fetches.slice(2).map((path) => {
    const query = new URLSearchParams(path.split("?")[1]);
    const size = Number(query.get("size"));
    return { from: size * Number(query.get("chunk")), size };
  });
  t.true(asked.length > 1);
  for (const [i, { from, size }] of asked.slice(0, -1).entries()) t.is(asked[i + 1]?.from, from + size);
});

test("every part begins at the offset and is no longer than what is missing", (t) => {
  for (const end of [50_000, 65_536]) {
    for (const whole of [true, false]) {
      for (let offset = 0; offset < end; offset += 1 + (offset % 97)) {
        const part = nextPart(offset, end, whole, 16_384);
        if (!part) {
          t.true(whole && offset === 0);
          continue;
        }
        if (part.size * part.chunk !== offset) t.fail(`${offset}: ${part.size} * ${part.chunk}`);
        if (!whole && part.size > 16_384) t.fail(`${offset}: ${part.size}`);
        if (part.bytes !== Math.min(part.size, end - offset)) t.fail(`${offset}: ${part.bytes}`);
      }
    }
  }
});

const CONDEMNED: [string, (lamp: Lamp) => unknown][] = [
  ["retry() is called", (lamp) => lamp.agent.firmware.retry()],
  ["it was seen withdrawn", (lamp) => withdrawFor(lamp, 2 * MINUTE)],
  ["its checksum was corrected", (lamp) => correctChecksum(lamp)],
];

async function withdrawFor(lamp: Lamp, ms: number): Promise<void> {
  const [target] = lamp.platform.core.packages.list();
  lamp.assign(undefined);
  await lamp.pass(ms);
  lamp.assign(target);
}

function correctChecksum(lamp: Lamp): void {
  const checksum = createHash("sha256").update(lamp.images.get("2.0.0")!).digest("hex");
  lamp.platform.setShared(lamp.device, { fw_checksum: checksum });
}

for (const [how, act] of CONDEMNED)
  test(`a condemned image is fetched again once ${how}`, async (t) => {
    const lamp = lampWith({}, { checksum: "0".repeat(64) });
    await lamp.untilState("FAILED");
    await lamp.pass(LONG);
    t.is(lamp.machine.fetched.bytes, SIZE);
    await act(lamp);
    await lamp.until(() => lamp.machine.fetched.bytes === 2 * SIZE);
    t.is(lamp.fetches.length, 4);
  });

test("every checksum algorithm of the host is verified", async (t) => {
  for (const algorithm of ["MD5", "SHA384", "SHA512"]) {
    const lamp = new Lamp();
    const image = lamp.release("2.0.0", SIZE);
    const checksum = createHash(algorithm).update(image).digest("hex");
    lamp.platform.setShared(lamp.device, { fw_checksum_algorithm: algorithm, fw_checksum: checksum });
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED, algorithm);
  }
});

test("allow() that says later, throws or never answers is called again after a minute", async (t) => {
  const answers: (() => "later" | true | Promise<true>)[] = [
    () => "later",
    () => Promise.reject(new Error("x")),
    () => new Promise(() => {}),
    () => true,
  ];
  const asked: number[] = [];
  const lamp: Lamp = new Lamp({
    firmware: {
      allow: (update) => {
        t.deepEqual(update, { title: "lamp", version: "2.0.0", size: SIZE });
        asked.push(lamp.machine.clock.now());
        return answers.shift()!();
      },
    },
  });
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED");
  t.is(asked.length, 4);
  t.true(asked.slice(1).every((at, i) => at - asked[i]! >= MINUTE));
});

test("an assignment counts only when it was read twice, 2 s apart", async (t) => {
  const lamp = new Lamp({ connections: 3 });
  await lamp.pass(MINUTE);
  lamp.release("2.0.0", SIZE);
  await lamp.pass(1900);
  t.is(lamp.fetches.length, 0);
  lamp.assign(undefined);
  await lamp.pass(MINUTE);
  t.deepEqual([lamp.fetches, lamp.states], [[], []]);
});
