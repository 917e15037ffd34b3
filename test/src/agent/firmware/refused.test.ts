import { createHash } from "node:crypto";
import test from "ava";
import type { FirmwareOptions } from "../../../../src/agent/firmware/firmware.js";
import type { Json } from "../../../../src/wire/text/json.js";
import { Device, imageOf, Platform, sha256 } from "./rig.js";

const SIZE = 20_000;
const IMAGE = imageOf("2.0.0", SIZE);

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
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", SIZE)) });
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
  t.is(platform.fetched, SIZE);

  platform.assign("2.0.0", IMAGE);
  device.firmware.offer(platform.shared);
  await device.until(() => platform.last.fw_state === "UPDATED");
  t.deepEqual(device.booted, ["1.0.0", "1.0.0", "2.0.0"]);
});

test("a condemned image is tried again after it was seen withdrawn", async (t) => {
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", SIZE)) });
  const { shared } = platform;
  platform.shared = {};
  device.firmware.offer({});
  await device.pass(10_000);
  platform.shared = shared;
  device.firmware.offer(shared);
  await device.until(() => platform.fetched === 2 * SIZE);
  t.pass();
});

test("retry() tries a condemned image again", async (t) => {
  const { platform, device } = await assigned({ fw_checksum: sha256(imageOf("2.0.1", SIZE)) });
  device.firmware.retry();
  await device.until(() => platform.fetched === 2 * SIZE);
  t.pass();
});

const REFUSED: {
  title: string;
  change: Record<string, Json | undefined>;
  error: RegExp;
  options?: Partial<FirmwareOptions>;
}[] = [
  { title: "an empty checksum", change: { fw_checksum: "" }, error: /makes no sense \(fw_checksum/ },
  {
    title: "a missing checksum",
    change: { fw_checksum: undefined },
    error: /incomplete \(fw_checksum is missing\)/,
  },
  {
    title: "a checksum of another length",
    change: { fw_checksum: "abcd" },
    error: /makes no sense \(fw_checksum/,
  },
  {
    title: "an unknown algorithm",
    change: { fw_checksum_algorithm: "SHA3" },
    error: /fw_checksum_algorithm is not known/,
  },
  { title: "a missing size", change: { fw_size: undefined }, error: /incomplete \(fw_size is missing\)/ },
  { title: "a size that is text", change: { fw_size: "20000" }, error: /makes no sense \(fw_size/ },
  { title: "a version that is a number", change: { fw_version: 2 }, error: /makes no sense \(fw_version/ },
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
    error: /older than minimumVersion/,
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
      t.deepEqual(update, { title: "lamp", version: "2.0.0", size: SIZE });
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
