import { createHash } from "node:crypto";
import test from "ava";
import { nextPart } from "../../../../src/agent/firmware/download/from-platform.js";
import type { FirmwareOptions } from "../../../../src/agent/firmware/firmware.js";
import type { Outcome } from "../../../../src/http/outcome.js";
import type { Json } from "../../../../src/wire/text/json.js";
import { Device, imageOf, type Mode, Platform, sha256 } from "./rig.js";

const SIZE = 50_000;
const NONE = new Uint8Array();
const MINUTE = 60_000;

function updating(mode: Mode, size = SIZE): { platform: Platform; device: Device } {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", size));
  return { platform, device: new Device(platform, mode) };
}

const done = (platform: Platform) => () => ["FAILED", "UPDATED"].includes(String(platform.last.fw_state));

for (const mode of [1, 2, 3] as const) {
  test(`after dropped connections not a byte is fetched twice, ${mode} connection(s)`, async (t) => {
    const { platform, device } = updating(mode);
    platform.drops = [1, 100, 4095, 4097, 16_384, 20_001, 33_333, 49_999];
    await device.until(done(platform));
    t.is(platform.last.fw_state, "UPDATED");
    t.is(platform.fetched, SIZE);
  });

  test(`an image of any size arrives whole, ${mode} connection(s)`, async (t) => {
    for (const size of [9, 4095, 4096, 4097, 8192, 16_384, 32_768, 65_536]) {
      const { platform, device } = updating(mode, size);
      platform.drops = [Math.floor(size / 3)];
      await device.until(done(platform));
      t.is(platform.last.fw_state, "UPDATED", `${size} bytes`);
      t.is(platform.fetched, size);
    }
  });

  test(`after a restart midway the download goes on, ${mode} connection(s)`, async (t) => {
    const { platform, device } = updating(mode);
    await device.until(() => platform.fetched > 30_000);
    device.machine.off();
    await device.until(done(platform));
    t.is(platform.last.fw_state, "UPDATED");
    t.true(platform.fetched <= SIZE + 16_384, `${platform.fetched}`);
    t.deepEqual(device.booted, ["1.0.0", "1.0.0", "2.0.0"]);
  });

  test(`a version replaced midway is fetched instead, ${mode} connection(s)`, async (t) => {
    const { platform, device } = updating(mode);
    await device.until(() => platform.fetched > 20_000);
    platform.assign("3.0.0", imageOf("3.0.0", 30_000));
    device.firmware.offer(platform.shared);
    await device.until(() => platform.last.fw_state === "UPDATED");
    t.deepEqual(device.booted, ["1.0.0", "3.0.0"]);
    t.false(platform.states.includes("FAILED"));
  });
}

test("a version replaced midway is found by the 400 of the next request", async (t) => {
  const { platform, device } = updating(2);
  await device.until(() => platform.fetched > 20_000);
  platform.assign("3.0.0", imageOf("3.0.0", 30_000));
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "3.0.0"]);
  t.false(platform.states.includes("FAILED"));
});

test("an assignment withdrawn midway is reported and forgotten", async (t) => {
  const { platform, device } = updating(2);
  await device.until(() => platform.fetched > 20_000);
  platform.shared = {};
  platform.answer = () => ({ kind: "refused", status: 404, body: NONE });
  await device.until(done(platform));
  t.is(platform.last.fw_error, "the assignment was withdrawn");
  await device.pass(3 * 60 * MINUTE);
  t.is(platform.states.filter((state) => state === "FAILED").length, 1);
  t.deepEqual(device.booted, ["1.0.0"]);
});

const ANSWERS: { title: string; outcome: Outcome; error: string }[] = [
  {
    title: "404 of a package that is assigned",
    outcome: { kind: "refused", status: 404, body: NONE },
    error: "the platform has no such package (404)",
  },
  {
    title: "400 of a package that is assigned",
    outcome: { kind: "refused", status: 400, body: NONE },
    error: "the platform refuses the title and version (400)",
  },
  {
    title: "500 with a text",
    outcome: { kind: "refused", status: 500, body: NONE },
    error: "the platform refuses the download (500)",
  },
  {
    title: "500 again and again (the file left the platform's cache)",
    outcome: { kind: "busy", status: 500, retryAfterMs: undefined },
    error: "the platform does not deliver the image (500)",
  },
  {
    title: "200 without a byte",
    outcome: { kind: "done", status: 200, body: NONE, whole: true, date: undefined },
    error: "the platform has fewer bytes than fw_size",
  },
];

for (const { title, outcome, error } of ANSWERS) {
  test(`a ${title} midway fails by name, and the update is tried again`, async (t) => {
    const { platform, device } = updating(2);
    await device.until(() => platform.fetched > 20_000);
    platform.answer = () => outcome;
    await device.until(done(platform));
    t.is(platform.last.fw_state, "FAILED");
    t.is(platform.last.fw_error, error);
    platform.answer = undefined;
    await device.until(() => platform.last.fw_state === "UPDATED", 2 * MINUTE);
    t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
  });
}

test("one 500 without a body only delays the download", async (t) => {
  const { platform, device } = updating(2);
  let times = 3;
  platform.answer = () => (times-- > 0 ? { kind: "busy", status: 500, retryAfterMs: undefined } : undefined);
  await device.until(done(platform));
  t.is(platform.last.fw_state, "UPDATED");
  t.is(platform.fetched, SIZE);
});

for (const hidden of [false, true]) {
  test(`a file one byte longer or shorter than fw_size never starts, its length ${hidden ? "unknown" : "stated"}`, async (t) => {
    for (const mode of [2, 3] as const) {
      for (const difference of [-1, 1]) {
        const { platform, device } = updating(mode);
        platform.hidesLength = hidden;
        platform.packages.set("2.0.0", imageOf("2.0.0", SIZE + difference));
        await device.until(done(platform));
        t.is(platform.last.fw_state, "FAILED", `${mode}, ${difference}`);
        if (mode === 3 && !hidden) t.is(platform.fetched, 0, "the length said enough");
        await device.pass(3 * 60 * MINUTE);
        t.deepEqual(device.booted, ["1.0.0"]);
      }
    }
  });
}

test("from an answer that is longer than what was asked for nothing is taken beyond", async (t) => {
  const { platform, device } = updating(3);
  platform.hidesLength = true;
  platform.packages.set("2.0.0", imageOf("2.0.0", SIZE + 1));
  await device.until(done(platform));
  t.is(platform.last.fw_error, "the platform sent a different length than requested");
});

test("a failed download is tried again after 1 minute, 10 minutes and 1 hour, then no more", async (t) => {
  const { platform, device } = updating(2);
  const { clock } = device.machine;
  platform.answer = () => ({ kind: "refused", status: 500, body: NONE });
  const at: number[] = [];
  platform.onReport = (values) => values.fw_state === "FAILED" && at.push(clock.now());
  await device.pass(10 * 60 * MINUTE);
  const waits = at.slice(1).map((ms, i) => Math.round((ms - (at[i] ?? 0)) / MINUTE));
  t.deepEqual(waits, [1, 10, 60]);
});

test("a slot that fails is reported, and tried again", async (t) => {
  const { platform, device } = updating(2);
  await device.until(() => platform.fetched > 0);
  const [, slot] = device.machine.slots;
  slot.fails = (call, at) => call === "write" && at >= 8192;
  await device.until(done(platform));
  t.is(platform.last.fw_error, "the slot could not be written");
  slot.fails = undefined;
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.pass();
});

test("what a restart left in the slot and can't be read back fails by name, and is fetched again", async (t) => {
  const { platform, device } = updating(2);
  await device.until(() => platform.fetched > 30_000);
  device.machine.off();
  let left = 1;
  device.machine.onOperation = (name) => (name.startsWith("erase") ? true : undefined);
  const [, other] = device.machine.slots;
  t.truthy(other);
  platform.onFragment = () => {
    device.machine.slots[1].fails = (call, at) => call === "read" && at >= 4096 && left-- > 0;
  };
  await device.until(done(platform));
  t.is(platform.last.fw_error, "the slot could not be written");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "1.0.0", "2.0.0"]);
});

test("a failed update waits over a restart, and is not tried at once", async (t) => {
  const { platform, device } = updating(2);
  platform.answer = () => ({ kind: "refused", status: 500, body: NONE });
  await device.until(done(platform));
  device.machine.off();
  const asked = platform.requests.length;
  await device.pass(50_000);
  t.is(platform.requests.length, asked);
  await device.pass(20_000);
  t.true(platform.requests.length > asked);
});

test("an image that changes in the slot after it was written is found before it starts", async (t) => {
  const { platform, device } = updating(2);
  device.machine.onOperation = (name) => {
    if (!name.startsWith("write 0+")) return;
    device.machine.onOperation = undefined;
    device.machine.slots[1].bytes[20_000]! ^= 1;
  };
  await device.until(done(platform));
  t.is(platform.last.fw_error, "the slot does not contain the written bytes");
  t.is(device.machine.slots[1].bytes[0], 0xff, "the header is gone");
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
});

test("progress is reported every 5 percent at most, or every 5 s", async (t) => {
  const percents: number[] = [];
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", SIZE));
  const device = new Device(platform, 3, { onProgress: (percent) => percents.push(percent) });
  await device.until(done(platform));
  t.true(percents.length > 10 && percents.length <= 20, `${percents}`);
  t.true(percents.every((percent, i) => percent - (percents[i - 1] ?? 0) >= 5));
  const reported = platform.reports
    .map(({ values }) => values.fw_progress)
    .filter((percent) => percent !== undefined);
  t.deepEqual(reported, percents);
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

const REFUSED_SIZE = 20_000;
const IMAGE = imageOf("2.0.0", REFUSED_SIZE);

async function assigned(
  change: Record<string, Json | undefined>,
  options: Partial<FirmwareOptions> = {},
): Promise<{ platform: Platform; device: Device }> {
  const platform = new Platform();
  platform.assign("2.0.0", IMAGE, change);
  const device = new Device(platform, 2, options);
  await device.until(() => ["FAILED", "UPDATED"].includes(String(platform.last.fw_state)));
  return { platform, device };
}

test("a wrong checksum is refused, reported with its reason, and not fetched again until assigned again", async (t) => {
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", REFUSED_SIZE)) });
  t.deepEqual(platform.states, ["DOWNLOADING", "FAILED"]);
  t.is(platform.last.fw_error, "wrong checksum");
  t.is(platform.last.current_fw_version, "1.0.0");
  t.true(
    device.machine.slots[1].bytes.subarray(0, 32).every((byte) => byte === 0xff),
    "no header was written",
  );
  await device.pass(5 * 3_600_000);
  device.machine.off();
  await device.pass(60_000);
  t.is(platform.fetched, REFUSED_SIZE);

  platform.assign("2.0.0", IMAGE);
  device.firmware.offer(platform.shared);
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "1.0.0", "2.0.0"]);
});

test("a condemned image is tried again after it was seen withdrawn", async (t) => {
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", REFUSED_SIZE)) });
  const { shared } = platform;
  platform.shared = {};
  device.firmware.offer({});
  await device.pass(10_000);
  platform.shared = shared;
  device.firmware.offer(shared);
  await device.until(() => platform.fetched === 2 * REFUSED_SIZE);
  t.pass();
});

test("retry() tries a condemned image again", async (t) => {
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", REFUSED_SIZE)) });
  device.firmware.retry();
  await device.until(() => platform.fetched === 2 * REFUSED_SIZE);
  t.pass();
});

const REFUSED: {
  title: string;
  change: Record<string, Json | undefined>;
  error: RegExp;
  options?: Partial<FirmwareOptions>;
}[] = [
  { title: "an empty checksum", change: { fw_checksum: "" }, error: /is invalid \(fw_checksum/ },
  {
    title: "a missing checksum",
    change: { fw_checksum: undefined },
    error: /incomplete \(fw_checksum is missing\)/,
  },
  {
    title: "a checksum of another length",
    change: { fw_checksum: "abcd" },
    error: /is invalid \(fw_checksum/,
  },
  {
    title: "an unknown algorithm",
    change: { fw_checksum_algorithm: "SHA3" },
    error: /fw_checksum_algorithm is unknown/,
  },
  { title: "a missing size", change: { fw_size: undefined }, error: /incomplete \(fw_size is missing\)/ },
  { title: "a size that is text", change: { fw_size: "20000" }, error: /is invalid \(fw_size/ },
  { title: "a version that is a number", change: { fw_version: 2 }, error: /is invalid \(fw_version/ },
  {
    title: "an image larger than the slot",
    change: { fw_size: 16 * 4096 + 1 },
    error: /larger than the slot \(65537 of 65536/,
  },
  { title: "another title", change: { fw_title: "Lamp" }, error: /title is not/ },
  {
    title: "a package with an address of its own",
    change: { fw_url: "https://files.example.com/2" },
    error: /fw_url/,
  },
  {
    title: "a version below minimumVersion",
    change: {},
    options: { minimumVersion: "2.0.1" },
    error: /older than firmware.minimumVersion/,
  },
  {
    title: "an update that the application does not allow",
    change: {},
    options: { allow: () => false },
    error: /does not allow/,
  },
];

for (const { title, change, error, options } of REFUSED) {
  test(`${title} is refused before a byte is fetched`, async (t) => {
    const { platform, device } = await assigned(change, options);
    t.deepEqual(platform.states, ["FAILED"]);
    t.regex(String(platform.last.fw_error), error);
    await device.pass(2 * 3_600_000);
    t.is(platform.requests.length, 0);
    t.is(platform.states.length, 1);
  });
}

test("over http an update is refused unless allowHttp is set", async (t) => {
  for (const [options, state] of [
    [{}, "FAILED"],
    [{ allowHttp: true }, "UPDATED"],
  ] as const) {
    const platform = new Platform();
    platform.assign("2.0.0", IMAGE);
    const device = new Device(platform, 2, options);
    device.secure = false;
    await device.until(() => ["FAILED", "UPDATED"].includes(String(platform.last.fw_state)));
    t.is(platform.last.fw_state, state);
  }
});

test("digits of the checksum and the algorithm's name may be of either case", async (t) => {
  const { platform } = await assigned({
    fw_checksum: sha256(IMAGE).toUpperCase(),
    fw_checksum_algorithm: "sha256",
  });
  t.is(platform.last.fw_state, "UPDATED");
});

test("every checksum algorithm of the host is verified", async (t) => {
  for (const algorithm of ["MD5", "SHA384", "SHA512"]) {
    const checksum = createHash(algorithm).update(IMAGE).digest("hex");
    const { platform } = await assigned({ fw_checksum_algorithm: algorithm, fw_checksum: checksum });
    t.is(platform.last.fw_state, "UPDATED", algorithm);
  }
});

test("an application that says later is asked again after a minute", async (t) => {
  const answers: (boolean | "later")[] = ["later", "later", true];
  const asked: number[] = [];
  const platform = new Platform();
  platform.assign("2.0.0", IMAGE);
  const device = new Device(platform, 2, {
    allow: (update) => {
      t.deepEqual(update, { title: "lamp", version: "2.0.0", size: REFUSED_SIZE });
      asked.push(device.machine.clock.now());
      return answers.shift() ?? true;
    },
  });
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(asked.length, 3);
  t.true((asked[2] ?? 0) - (asked[0] ?? 0) >= 120_000);
});

test("an application that throws or never answers counts as later", async (t) => {
  const answers = [() => Promise.reject(new Error("x")), () => new Promise<boolean>(() => {}), () => true];
  const platform = new Platform();
  platform.assign("2.0.0", IMAGE);
  const device = new Device(platform, 2, { allow: () => (answers.shift() ?? (() => true))() });
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.is(answers.length, 0);
});

test("keys that are seen only once do not start an update", async (t) => {
  const platform = new Platform();
  const device = new Device(platform, 2);
  await device.pass(5000);
  const half = new Platform();
  half.assign("3.0.0", IMAGE);
  device.firmware.offer(half.shared);
  await device.pass(60_000);
  t.is(platform.requests.length, 0);
  t.deepEqual(platform.states, []);
});

test("two looks that agree count only when they are 2 s apart", async (t) => {
  const platform = new Platform();
  const device = new Device(platform, 2);
  await device.pass(5000);
  platform.assign("2.0.0", IMAGE);
  for (let looks = 0; looks < 10; looks++) device.firmware.offer(platform.shared);
  await device.pass(1900);
  t.is(platform.requests.length, 0);
  await device.until(() => platform.last.fw_state === "UPDATED");
});

test("an incomplete set of keys is read again before it is refused", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", IMAGE);
  const { shared } = platform;
  platform.shared = { fw_title: "lamp", fw_version: "2.0.0" };
  const device = new Device(platform, 2);
  await device.pass(5000);
  platform.shared = shared;
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.false(platform.states.includes("FAILED"));
});

// What is in the slot while an image comes, and after a power loss. Power losses at every operation are in test/power-loss/agent.slow.test.ts.

const CUT_SIZE = 30_000;

test("while an image is fetched over an older one the slot has no header", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", CUT_SIZE));
  const device = new Device(platform, 2);
  const [, slot] = device.machine.slots;
  slot.bytes.set(imageOf("0.9.0", CUT_SIZE));
  await device.until(() => platform.fetched > 0);
  t.true(slot.bytes.subarray(0, 32).every((byte) => byte === 0xff));
  await device.until(() => platform.last.fw_state === "UPDATED");
});

test("after a power loss a verified image is read back again before it starts", async (t) => {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", CUT_SIZE));
  const device = new Device(platform, 2);
  platform.onReport = ({ fw_state }) => {
    if (fw_state !== "VERIFIED") return;
    platform.onReport = undefined;
    device.machine.off();
    device.machine.slots[1].bytes[9000]! ^= 1;
  };
  await device.until(() => platform.last.fw_state === "FAILED");
  t.is(platform.last.fw_error, "the slot does not contain the written bytes");
  t.deepEqual(device.booted, ["1.0.0", "1.0.0"]);
});

const WHOLE_WAY = ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"];

function updatingDevice(mode: Mode, size = SIZE, change = {}): { platform: Platform; device: Device } {
  const platform = new Platform();
  platform.assign("2.0.0", imageOf("2.0.0", size), change);
  return { platform, device: new Device(platform, mode) };
}

for (const mode of [1, 2, 3] as const) {
  test(`an assigned image is fetched, verified, started and confirmed with ${mode} connection(s)`, async (t) => {
    const { platform, device } = updatingDevice(mode);
    await device.until(() => platform.last.fw_state === "UPDATED");
    t.deepEqual(platform.states, WHOLE_WAY);
    t.deepEqual(device.booted, ["1.0.0", "2.0.0"]);
    t.is(device.machine.state, "confirmed");
    t.is(platform.last.current_fw_version, "2.0.0");
    t.is(platform.last.fw_error, "");
    t.is(platform.fetched, SIZE);
    t.is(platform.requests.length, mode === 3 ? 1 : 4);
    await device.pass(600_000);
    t.is(platform.fetched, SIZE, "what runs is not fetched again");
  });
}
