// Hostile assignments, downloads and parts: whatever comes, the old image runs and the operator is notified.

import { generateKeyPairSync, sign } from "node:crypto";
import test from "ava";
import { MARK } from "../../../../../extras/trust/announcement.js";
import { Agent, type FirmwareOptions } from "../../../../../src/index.js";
import { signImage } from "../../../../../tools/cli/commands/sign.js";
import { FakeClock } from "../../../../fakes/clock.js";
import { fakeHost } from "../../../../fakes/host.js";
import { SECTOR } from "../machine.js";
import { Files, HOST, type Manners, URL_2 } from "./file-servers.js";
import { Lamp, type LampOptions } from "./lamp.js";
import { each, failed, firmwareOnly, LONG, lampWith, MINUTE, SIZE, stays, UPDATED } from "./reported.js";

const SHAPE: LampOptions = { connections: 2 };

const invalid = (key: string, problem: string) => `the assignment is invalid (${key} ${problem})`;
const SIZE_PROBLEM = invalid("fw_size", "is no number of bytes from 1 to 2147483647");
const LARGER = "the image is larger than the slot (65537 of 65536 bytes)";

/** Changed attributes, the reason that is reported, and `firmware.allow`. Other wrong types: test/src/wire/wire.test.ts. */
const INVALID: [string, Record<string, unknown>, string, FirmwareOptions["allow"]?][] = [
  ["a size of 0", { fw_size: 0 }, SIZE_PROBLEM],
  ["a size that is NaN as text", { fw_size: "NaN" }, SIZE_PROBLEM],
  ["a size that is an object", { fw_size: { bytes: 20_000 } }, SIZE_PROBLEM],
  ["an image larger than the slot", { fw_size: 16 * 4096 + 1 }, LARGER],
  ["an empty checksum", { fw_checksum: "" }, invalid("fw_checksum", "is empty or not a string")],
  ["an unknown algorithm", { fw_checksum_algorithm: "SHA3" }, invalid("fw_checksum_algorithm", "is unknown")],
  ["a title that is a path", { fw_title: "../../lamp" }, "the title is not firmware.title of this device"],
  ["a title of 300 characters", { fw_title: "lamp".repeat(75) }, invalid("fw_title", "is too long")],
  ["a version of 300 characters", { fw_version: "2".repeat(300) }, invalid("fw_version", "is too long")],
  ["an update that allow() refuses", {}, "the application does not allow this update", () => false],
];

for (const [title, change, error, allow] of INVALID) {
  test(`${title}: FAILED before a byte is fetched`, async (t) => {
    const lamp = lampWith({ ...SHAPE, firmware: { allow } }, {});
    await lamp.pass(700);
    lamp.platform.setShared(lamp.device, change);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed(error));
    await stays(t, lamp, 0);
  });
}

for (const key of ["fw_size", "fw_checksum", "fw_checksum_algorithm"])
  test(`an assignment without ${key}: FAILED with its name before a byte is fetched`, async (t) => {
    const lamp = lampWith(SHAPE, {});
    await lamp.pass(700);
    lamp.platform.deleteShared(lamp.device, [key]);
    await lamp.untilState("FAILED", "UPDATED");
    t.deepEqual(lamp.shown, failed(`the assignment is incomplete (${key} is missing)`));
    await stays(t, lamp, 0);
  });

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
  t.deepEqual(lamp.shown, failed("the platform does not deliver the image"));
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
  t.deepEqual(lamp.shown, failed("the platform does not deliver the image (200)"));
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
  t.deepEqual(lamp.shown, failed("the slot does not contain the written bytes"));
  t.is(lamp.machine.slots[1].bytes[0], 0xff, "the header is gone");
  await lamp.pass(LONG);
  t.deepEqual(lamp.shown, failed("the slot does not contain the written bytes"));
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
  t.deepEqual(lamp.shown, failed("the image is not bootable on this device"));
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

// Packages with an address of their own (fw_url): seen from the platform's side, and from the file server's.

const ETAG = '"7f-1"';
const URL_HOSTS = { urlHosts: [HOST] };

async function ended(
  shape: LampOptions,
  manners: Manners,
  options = {},
  url?: string,
  more?: object,
): Promise<Files> {
  const files = new Files({ ...shape, firmware: { ...URL_HOSTS, ...options } }, manners);
  files.assign(url, more);
  await files.lamp.untilState("UPDATED", "FAILED");
  return files;
}

const paths = (files: Files) =>
  files.seen.map(({ host, path, secure }) => `${secure ? "https" : "http"}://${host}${path}`);

for (const [title, manners] of [
  ["with ranges and an ETag", { etag: ETAG }],
  ["with ranges alone", {}],
  ["without ranges", { ranges: false }],
  ["without ranges, which states no length", { ranges: false, hidesLength: true }],
] as const) {
  each(`an image from a server ${title} is taken`, async (t, shape) => {
    const files = await ended(shape, { ...manners });
    t.deepEqual(files.lamp.shown, UPDATED);
    t.deepEqual(files.lamp.states, ["DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"]);
    t.is(files.sent, SIZE);
    t.is(files.lamp.fetches.length, 0);
    const parts = "ranges" in manners || shape.connections === 3 ? 1 : 2;
    t.is(files.seen.length, parts);
  });
}

each("the server never hears of the token, and gets the address to the letter", async (t, shape) => {
  const files = await ended(shape, {});
  for (const { path, headers } of files.seen) {
    t.is(path, "/lamp/2.0.0.bin?key=s3cret");
    t.is(headers.host, HOST);
    t.false(JSON.stringify(headers).includes("lamp-token"));
  }
  const reported = JSON.stringify([
    files.lamp.machine.lines,
    files.lamp.platform.points(files.lamp.device, "fw_error"),
  ]);
  t.false(reported.includes("s3cret"));
});

each("a host that is not listed is not asked", async (t, shape) => {
  for (const urlHosts of [undefined, [], ["other.test"], [`${HOST}:8443`]]) {
    const files = new Files({ ...shape, firmware: { urlHosts } });
    files.assign();
    await files.lamp.untilState("UPDATED", "FAILED");
    t.deepEqual(files.lamp.shown, failed("fw_url is on a host that firmware.urlHosts does not list"));
    t.is(files.seen.length, 0);
  }
});

test("another address for what was refused is a new try", async (t) => {
  const files = await ended({}, {}, {}, "https://other.test/2.0.0.bin");
  t.is(files.lamp.shown.state, "FAILED");
  files.lamp.platform.setShared(files.lamp.device, { fw_url: URL_2 });
  await files.lamp.untilState("UPDATED");
  t.deepEqual(files.lamp.shown, UPDATED);
});

each(
  "after dropped connections not a byte is fetched twice, and with an ETag the whole is one file",
  async (t, shape) => {
    const files = await ended(shape, { etag: ETAG, drops: [1, 1000, 4095, 4097, 9001, 19_999] });
    t.deepEqual(files.lamp.shown, UPDATED);
    t.is(files.sent, SIZE);
  },
);

each("without ranges a dropped connection means from the start", async (t, shape) => {
  const files = await ended(shape, { ranges: false, drops: [10_000] });
  t.deepEqual(files.lamp.shown, UPDATED);
  t.is(files.sent, SIZE + 10_000);
});

each("a file that was replaced midway is fetched from the start, not patched together", async (t, shape) => {
  const files = new Files({ ...shape, firmware: URL_HOSTS }, { etag: ETAG, drops: [10_000] });
  const right = files.image;
  files.assign();
  files.image = right.map((byte) => byte ^ 1);
  await files.lamp.until(() => files.sent === 10_000);
  files.image = right;
  files.manners.etag = '"7f-2"';
  await files.lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(files.lamp.shown, UPDATED);
  // What the replaced file's server still sent was not taken.
  t.is(files.sent, 10_000 + 10_000 + SIZE);
});

each("after a restart 16 KiB are fetched again at most", async (t, shape) => {
  const size = 60_000;
  const files = new Files({ ...shape, firmware: URL_HOSTS }, { etag: ETAG }, size);
  files.lamp.machine.net.options.segmentMs = 20;
  files.assign();
  const cuts: number[] = [];
  files.lamp.machine.onOperation = (name) => {
    const at = Number(/^erase (\d+)$/.exec(name)?.[1] ?? 0);
    if (at <= (cuts.length + 1) * 16_000 || cuts.length === 3) return;
    cuts.push(at);
    files.lamp.machine.clock.timer(0, () => files.lamp.machine.off());
  };
  await files.lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(files.lamp.shown, UPDATED);
  // After each start: sector 0, and what follows from where it goes on.
  const from = files.seen.map(({ headers }) => Number(/^bytes=(\d+)-/.exec(headers.range ?? "")?.[1]));
  const starts = from.flatMap((at, i) => (at === 0 ? [i + 1] : [])).slice(1);
  t.is(starts.length, 3);
  const again = starts.map((i, cut) => SECTOR + (cuts[cut] ?? 0) + SECTOR - (from[i] ?? 0));
  t.log(`${again.join(", ")} bytes at most`);
  t.true(again.every((bytes) => bytes <= 16_384));
});

each("without fw_size the server is asked for the length first", async (t, shape) => {
  for (const ranges of [true, false]) {
    const files = new Files({ ...shape, firmware: URL_HOSTS }, { ranges });
    const { checksum, algorithm } = files.all;
    files.assign(URL_2, { checksum, algorithm });
    await files.lamp.untilState("UPDATED", "FAILED");
    t.deepEqual(files.lamp.shown, UPDATED);
    t.is(files.seen[0]?.headers.range, "bytes=0-0");
  }
});

each(
  "without fw_size a file larger than the slot is refused before a byte of it is written",
  async (t, shape) => {
    const files = new Files({ ...shape, firmware: URL_HOSTS }, {}, 70_000);
    const { checksum, algorithm } = files.all;
    files.assign(URL_2, { checksum, algorithm });
    await files.lamp.untilState("UPDATED", "FAILED");
    t.deepEqual(files.lamp.shown, failed("the image is larger than the slot (70000 of 65536 bytes)"));
    t.false(files.lamp.machine.operations.some((name) => name.startsWith("erase")));
  },
);

each("a length that nobody states is refused by name", async (t, shape) => {
  const files = new Files({ ...shape, firmware: URL_HOSTS }, { ranges: false, hidesLength: true });
  const { checksum, algorithm } = files.all;
  files.assign(URL_2, { checksum, algorithm });
  await files.lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(files.lamp.shown, failed("the server of fw_url does not state the length of the file"));
});

each("a package without a checksum is refused, unless allowUnverified is set", async (t, shape) => {
  const refused = await ended(shape, {}, {}, URL_2, {});
  t.deepEqual(refused.lamp.shown, failed("the package has no checksum"));
  t.is(refused.seen.length, 0);
  const taken = await ended(shape, {}, { allowUnverified: true }, URL_2, {});
  t.deepEqual(taken.lamp.shown, UPDATED);
});

each("an image without a checksum that changes in the slot does not start", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { ...URL_HOSTS, allowUnverified: true } });
  files.lamp.machine.onOperation = (name) => {
    if (!name.startsWith("write 0+")) return;
    files.lamp.machine.slots[1].bytes[9000]! ^= 1;
  };
  files.assign(URL_2, {});
  await files.lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(files.lamp.shown, failed("the slot does not contain the written bytes"));
});

each("a checksum that is there is verified, allowUnverified or not", async (t, shape) => {
  const files = await ended(shape, {}, { allowUnverified: true }, URL_2, {
    size: SIZE,
    checksum: "0".repeat(64),
    algorithm: "SHA256",
  });
  t.deepEqual(files.lamp.shown, failed("wrong checksum"));
  await stays(t, files.lamp);
});

each("a checksum without its algorithm is incomplete", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { ...URL_HOSTS, allowUnverified: true } });
  files.assign(URL_2, { checksum: files.all.checksum });
  await files.lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(files.lamp.shown, failed("the assignment is incomplete (fw_checksum_algorithm is missing)"));
});

each("a file of another length than fw_size is refused, its length stated or not", async (t, shape) => {
  for (const manners of [{}, { ranges: false }, { ranges: false, hidesLength: true }]) {
    const files = new Files({ ...shape, firmware: URL_HOSTS }, manners);
    files.assign(URL_2, { ...files.all, size: SIZE + (manners.hidesLength ? -1 : 1) });
    await files.lamp.untilState("UPDATED", "FAILED");
    t.deepEqual(files.lamp.shown, failed("the platform sent a different length than requested"));
  }
});

const to = (location: string) => ({ status: 302, headers: { Location: location } });
const HOPS = [
  ["absolute", `https://${HOST}/b`],
  ["from the root", "/b"],
  ["in the same folder", "../b"],
  ["without a scheme", `//${HOST}/b`],
] as const;
for (const [kind, location] of HOPS) {
  each(`a redirect is followed: ${kind}`, async (t, shape) => {
    const files = await ended(shape, { answers: { "/lamp/2.0.0.bin?key=s3cret": to(location) } });
    t.deepEqual(files.lamp.shown, UPDATED);
    t.deepEqual([...new Set(paths(files))], [URL_2, `https://${HOST}/b`]);
  });
}

each("five redirects are followed, the sixth is not", async (t, shape) => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [i === 0 ? "/lamp/2.0.0.bin?key=s3cret" : `/${i}`, to(`/${i + 1}`)]),
    );
  t.deepEqual((await ended(shape, { answers: chain(5) })).lamp.shown, UPDATED);
  const sixth = await ended(shape, { answers: chain(6) });
  t.deepEqual(sixth.lamp.shown, failed("a redirect of fw_url was rejected (more than 5)"));
});

for (const [title, status, headers, error] of [
  [
    "to a host that is not listed",
    307,
    { Location: "https://other.test/b" },
    "to a host that is not allowed",
  ],
  ["to http", 301, { Location: `http://${HOST}/b` }, "from https to http"],
  ["to nowhere", 302, {}, "no address"],
  ["to another kind of address", 308, { Location: "ftp://files.test/b" }, "no address"],
  ["with blanks in it", 302, { Location: "/a b" }, "no address"],
  ["with a user name", 302, { Location: `https://a:b@${HOST}/b` }, "no address"],
  ["longer than anything", 302, { Location: `/${"x".repeat(4000)}` }, "no address"],
] as const) {
  each(`a redirect is not followed: ${title}`, async (t, shape) => {
    const files = await ended(shape, {
      answers: { "/lamp/2.0.0.bin?key=s3cret": { status, headers: { ...headers } } },
    });
    t.deepEqual(files.lamp.shown, failed(`a redirect of fw_url was rejected (${error})`));
    t.is(files.seen.length, 1);
  });
}

each("from https to http only with allowHttp, a signature or not", async (t, shape) => {
  const answers = { "/lamp/2.0.0.bin?key=s3cret": to(`http://${HOST}/b`) };
  const taken = await ended(shape, { answers }, { allowHttp: true });
  t.deepEqual(taken.lamp.shown, UPDATED);
});

each("over http from another machine: off unless allowHttp", async (t, shape) => {
  const url = `http://${HOST}/2.0.0.bin`;
  const refused = await ended(shape, {}, {}, url);
  t.deepEqual(refused.lamp.shown, failed("an update over http needs a signature or firmware.allowHttp"));
  t.is(refused.seen.length, 0);
  t.deepEqual((await ended(shape, {}, { allowHttp: true }, url)).lamp.shown, UPDATED);
});

each("a refusal of the server fails by name and is tried again", async (t, shape) => {
  const files = await ended(shape, { answers: { "/lamp/2.0.0.bin?key=s3cret": { status: 404 } } });
  t.deepEqual(files.lamp.shown, failed("the server of fw_url refuses the file (404)"));
  files.manners.answers = {};
  await files.lamp.untilState("UPDATED");
  t.deepEqual(files.lamp.shown, UPDATED);
});

each("a server that is busy is asked again, and one that always is fails by name", async (t, shape) => {
  t.deepEqual((await ended(shape, { busy: { status: 503, times: 3 } })).lamp.shown, UPDATED);
  const always = await ended(shape, { busy: { status: 503, times: 1e9 } });
  t.deepEqual(always.lamp.shown, failed("the server of fw_url does not deliver the file (503)"));
});

each("the platform is served meanwhile", async (t, shape) => {
  const files = new Files({ ...shape, firmware: URL_HOSTS }, {}, 60_000);
  files.lamp.machine.net.options.segmentMs = 2000;
  files.assign();
  await files.lamp.untilState("DOWNLOADING");
  const results = files.lamp.platform.rpc(files.lamp.device, "unknown", {}, { timeoutMs: 40_000 });
  await files.lamp.until(() => results.length > 0);
  t.is(results[0]?.kind, "answer");
  t.is(files.lamp.shown.state, "DOWNLOADING");
  await files.lamp.untilState("UPDATED");
});

// Devices that take only what their maker signed, whoever holds the platform.

const maker = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const { publicKey } = signImage(maker, new Uint8Array());

/** A lamp that asks for signatures, with its second version assigned, signed as `by` says. */
function signedLamp(shape: object, by: typeof maker | undefined, algorithm?: "MD5"): Lamp {
  const lamp = new Lamp({ ...shape, firmware: { publicKey } });
  const image = lamp.image("2.0.0", SIZE);
  if (by) lamp.platform.setShared(lamp.device, { fw_signature: signImage(by, image).signature });
  lamp.assign(lamp.package("2.0.0", image, algorithm && { algorithm }));
  return lamp;
}

each("the SHA-256 is what is signed, whatever the checksum is", async (t, shape) => {
  const lamp = signedLamp(shape, maker, "MD5");
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("an image without a signature is refused before a byte is fetched", async (t, shape) => {
  const lamp = signedLamp(shape, undefined);
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, failed("the image has no signature (fw_signature)"));
  await stays(t, lamp, 0);
});

for (const algorithm of [undefined, "MD5"] as const) {
  each(
    `an image that somebody else signed gets no header, and is not tried again (${algorithm ?? "SHA256"})`,
    async (t, shape) => {
      const lamp = signedLamp(shape, other, algorithm);
      await lamp.untilState("UPDATED", "FAILED");
      t.deepEqual(lamp.shown, failed("the signature does not match firmware.publicKey"));
      t.true(lamp.machine.slots[1].bytes.subarray(0, 32).every((byte) => byte === 0xff));
      t.false(lamp.machine.operations.some((name) => name.startsWith("write 0+")));
      await stays(t, lamp);
    },
  );
}

for (const algorithm of [undefined, "MD5"] as const)
  each(
    `an announcement of CAs signed with the firmware key is refused as an image (${algorithm ?? "SHA256"})`,
    async (t, shape) => {
      const lamp = new Lamp({ ...shape, firmware: { publicKey } });
      const text = Buffer.from(`${MARK}1795000000\ndrop old\n`.padEnd(SIZE, "\n"));
      lamp.images.set("2.0.0", text);
      // As `openssl dgst -sign` does: `mote sign` refuses it.
      const signature = sign("sha256", text, maker).toString("hex");
      lamp.platform.setShared(lamp.device, { fw_signature: signature });
      lamp.assign(lamp.package("2.0.0", text, algorithm && { algorithm }));
      await lamp.untilState("UPDATED", "FAILED");
      t.deepEqual(lamp.shown, failed("the signature does not match firmware.publicKey"));
      await stays(t, lamp);
    },
  );

test("bytes without the mark of a statement are not signed, whoever signed them", async (t) => {
  const clock = new FakeClock();
  const agent = new Agent(fakeHost({ clock }), {
    baseUrl: "https://p.test",
    token: "T",
    firmware: { title: "lamp", version: "1.0.0", publicKey },
  });
  for (const [text, isSigned] of [
    [`${MARK}1\n`, true],
    [`lamp ${MARK}`, false],
    [MARK.slice(1), false],
    ["", false],
  ] as const) {
    const bytes = new Uint8Array(Buffer.from(text));
    const signature = sign("sha256", bytes, maker).toString("hex");
    let found: boolean | undefined;
    void agent.firmware.isSigned(bytes, signature).then((answer) => {
      found = answer;
    });
    await clock.runUntil(() => found !== undefined);
    t.is(found, isSigned, JSON.stringify(text));
  }
});

test("a signature that comes after the image was refused is a new assignment", async (t) => {
  const lamp = signedLamp({}, undefined);
  await lamp.untilState("FAILED");
  const image = lamp.images.get("2.0.0") as Uint8Array;
  lamp.platform.setShared(lamp.device, { fw_signature: signImage(other, image).signature });
  await lamp.until(() => lamp.latest("fw_error") === "the signature does not match firmware.publicKey");
  lamp.platform.setShared(lamp.device, { fw_signature: signImage(maker, image).signature });
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
});

test("what is no signature at all is reported as such", async (t) => {
  for (const value of ["yes", "3006020101020100", 5, true]) {
    const lamp = signedLamp({}, undefined);
    lamp.platform.setShared(lamp.device, { fw_signature: value });
    await lamp.untilState("FAILED", "UPDATED");
    t.regex(
      String(lamp.latest("fw_error")),
      /^the assignment is invalid \(fw_signature is (?:empty|not a valid signature)/,
    );
  }
});

test("a signature that is left when the package is withdrawn is no assignment", async (t) => {
  const lamp = signedLamp({}, maker);
  await lamp.untilState("UPDATED");
  lamp.assign(undefined);
  await lamp.pass(120_000);
  t.deepEqual(lamp.shown, UPDATED);
});

test("over http a signed image is taken, an unsigned one is not", async (t) => {
  const agent = { baseUrl: "http://platform.test" };
  const signed = signedLamp({ agent }, maker);
  await signed.untilState("UPDATED", "FAILED");
  t.deepEqual(signed.shown, UPDATED);
  const lamp = new Lamp({ agent });
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, failed("an update over http needs a signature or firmware.allowHttp"));
});
