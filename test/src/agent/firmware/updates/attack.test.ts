// Hostile assignments, downloads and parts: whatever comes, the old image runs and the operator is notified.
import test from "ava";
import { Lamp, type LampOptions } from "./lamp.js";
import { each, failed, firmwareOnly, LONG, lampWith, MINUTE, SIZE, stays, UPDATED } from "./reported.js";

const SHAPE: LampOptions = { connections: 2 };

const SIZE_PROBLEM = "the assignment makes no sense (fw_size is no number of bytes from 1 to 2147483647)";
const INVALID: [string, Record<string, unknown>, string][] = [
  ["a size of 0", { fw_size: 0 }, SIZE_PROBLEM],
  ["a size below 0", { fw_size: -1 }, SIZE_PROBLEM],
  ["a size of 2^53", { fw_size: 2 ** 53 }, SIZE_PROBLEM],
  ["a size with a fraction", { fw_size: 1.5 }, SIZE_PROBLEM],
  ["a size that is NaN as text", { fw_size: "NaN" }, SIZE_PROBLEM],
  ["a size that is an object", { fw_size: { bytes: 20_000 } }, SIZE_PROBLEM],
  [
    "an unknown algorithm",
    { fw_checksum_algorithm: "SHA3" },
    "the assignment makes no sense (fw_checksum_algorithm is not known)",
  ],
  ["a title that is a path", { fw_title: "../../lamp" }, "the title is not that of this device's firmware"],
  [
    "a title of 300 characters",
    { fw_title: "lamp".repeat(75) },
    "the assignment makes no sense (fw_title is too long)",
  ],
  [
    "a version of 300 characters",
    { fw_version: "2".repeat(300) },
    "the assignment makes no sense (fw_version is too long)",
  ],
];

for (const [title, change, error] of INVALID) {
  test(`${title}: FAILED before a byte is fetched`, async (t) => {
    const lamp = lampWith(SHAPE, {});
    await lamp.pass(700);
    lamp.platform.setShared(lamp.device, change);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed(error));
    await stays(t, lamp, 0);
  });
}

test("a title of 10 kB: not a byte is fetched, and the next assignment is UPDATED", async (t) => {
  const lamp = lampWith(SHAPE, {});
  await lamp.pass(700);
  lamp.platform.setShared(lamp.device, { fw_title: "lamp".repeat(2500) });
  await lamp.pass(10 * MINUTE);
  t.deepEqual([lamp.booted, lamp.fetches], [["1.0.0"], []]);
  lamp.release("3.0.0", SIZE);
  await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED");
  t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
});

each("a title and a version of characters that a path must escape: UPDATED", async (t, shape) => {
  const title = "lämp /../?&#%2f;;";
  const lamp = new Lamp({ ...shape, firmware: { title } });
  lamp.assign(lamp.package("2.0.0", lamp.image("2.0.0", SIZE), { title }));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

test("an algorithm in lower-case letters: UPDATED", async (t) => {
  const lamp = lampWith(SHAPE, {});
  await lamp.pass(700);
  lamp.platform.setShared(lamp.device, { fw_checksum_algorithm: "sha256" });
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each(
  "an assignment that flips between two packages each 3 s: no start of either before it rests",
  async (t, shape) => {
    const lamp = new Lamp(shape);
    const two = lamp.package("2.0.0", lamp.image("2.0.0", 40_000));
    const three = lamp.package("3.0.0", lamp.image("3.0.0", 40_000));
    lamp.machine.net.options.segmentMs = 300;
    const { clock } = lamp.machine;
    let flips = 0;
    const flip = () => {
      lamp.assign(flips++ % 2 === 0 ? two : three);
      if (flips < 60) clock.timer(3000, flip);
    };
    flip();
    await lamp.until(() => flips === 60);
    await lamp.until(() => lamp.version === "3.0.0" && lamp.shown.state === "UPDATED");
    t.deepEqual(lamp.shown, { ...UPDATED, running: "3.0.0" });
  },
);

each("a download of which nothing ever comes: FAILED", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(() => "hang");
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the platform does not hand out the image"));
});

each(
  "a platform that is busy for nine requests, with Retry-After: 0: UPDATED, and no attempt is wasted",
  async (t, shape) => {
    const lamp = lampWith(shape, {});
    const at: number[] = [];
    lamp.platform.fault = firmwareOnly((request) => {
      at.push(lamp.machine.clock.now());
      if (at.length > 9) return undefined;
      request.reply(503, "", { "Retry-After": "0" });
      return "hang";
    });
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
    const waitedMs = (at[9] as number) - (at[0] as number);
    t.true(waitedMs >= 10_000, `${waitedMs} ms for nine attempts`);
  },
);

each("a platform that hands out one byte an answer: FAILED after few requests", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(({ peer }) => {
    peer.send("HTTP/1.1 200 \r\n\r\nx");
    peer.end();
    return "hang";
  });
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the platform does not hand out the image (200)"));
  t.true(lamp.fetches.length <= 40, `${lamp.fetches.length} requests`);
});

each("a download of less than 1 KiB a minute: each request is given up after a minute", async (t, shape) => {
  const lamp = lampWith(shape, {});
  const { options } = lamp.machine.net;
  const at: number[] = [];
  lamp.platform.fault = firmwareOnly(() => {
    at.push(lamp.machine.clock.now());
    Object.assign(options, { segmentBytes: 700, segmentMs: 59_000 });
    return undefined;
  });
  lamp.onStart = () => Object.assign(options, { segmentBytes: 1460, segmentMs: 0 });
  await lamp.until(() => at.length > 1);
  t.true((at[1] as number) - (at[0] as number) < 5 * MINUTE, `${at}`);
});

each("a download of 20 bytes each second: UPDATED, whenever that is", async (t, shape) => {
  const lamp = lampWith(shape, {}, 3000);
  const { options } = lamp.machine.net;
  lamp.platform.fault = firmwareOnly(() => {
    Object.assign(options, { segmentBytes: 20, segmentMs: 1000 });
    return undefined;
  });
  lamp.onStart = () => Object.assign(options, { segmentBytes: 1460, segmentMs: 0 });
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
  t.is(lamp.machine.fetched.bytes, 3000);
});

each(
  "connections that break within every answer: UPDATED, and not a byte is fetched twice",
  async (t, shape) => {
    for (const breakAt of [700, 5000, 12_345, 16_500]) {
      const lamp = lampWith(shape, {}, 40_000);
      lamp.platform.fault = firmwareOnly(() => ({ breakAt }));
      await lamp.untilState("FAILED", "UPDATED");
      t.deepEqual(lamp.shown, UPDATED, `${breakAt}`);
      t.is(lamp.machine.fetched.bytes, 40_000, `${breakAt}`);
    }
  },
);

each("a slot that does not keep what was written: FAILED, and never started", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.machine.onOperation = (name) => {
    if (name.startsWith("write 0+")) lamp.machine.slots[1].bytes[9000]! ^= 1;
  };
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the slot does not hold what was written"));
  await lamp.pass(LONG);
  t.deepEqual(lamp.shown, failed("the slot does not hold what was written"));
  t.deepEqual(lamp.booted, ["1.0.0"]);
});

each("a slot that can't be written: FAILED, and UPDATED when it can", async (t, shape) => {
  const lamp = lampWith(shape, {});
  let full = true;
  lamp.machine.onOperation = (name) => !(full && name.startsWith("write 8192"));
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the slot could not be written"));
  full = false;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("a slot that can't be activated: FAILED, and the old image runs", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.machine.onOperation = (name) => name !== "activate";
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, failed("the device finds the image unfit to start"));
  await stays(t, lamp);
});

each("a store that is full: nothing is started, and UPDATED when there is room", async (t, shape) => {
  const lamp = lampWith(shape, {});
  let full = true;
  lamp.machine.onOperation = (name) => !(full && name === "store firmware");
  await lamp.pass(10 * MINUTE);
  t.deepEqual(lamp.booted, ["1.0.0"]);
  full = false;
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

for (const how of ["fails", "throws"] as const) {
  each(`a confirmation that ${how} a few times: UPDATED`, async (t, shape) => {
    const lamp = lampWith(shape, {});
    let left = 3;
    lamp.machine.onOperation = (name) => {
      if (name !== "confirm" || left-- <= 0) return true;
      if (how === "throws") throw new Error("the flash is worn out");
      return false;
    };
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, UPDATED);
  });

  each(`a confirmation that ${how} for good: FAILED, and the old image runs`, async (t, shape) => {
    const lamp = lampWith(shape, {});
    lamp.machine.onOperation = (name) => {
      if (name !== "confirm") return true;
      if (how === "throws") throw new Error("the flash is worn out");
      return false;
    };
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed("the device could not store that the new image is kept"));
    t.deepEqual(lamp.booted, ["1.0.0", "2.0.0", "1.0.0"]);
  });
}
