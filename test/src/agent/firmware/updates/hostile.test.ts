// Hostile assignments, downloads and parts: whatever comes, the old image runs and the operator is
// notified.

import { generateKeyPairSync } from "node:crypto";
import test from "ava";
import type { FirmwareOptions } from "../../../../../src/index.js";
import { signImage } from "../../../../../tools/cli/commands/sign.js";
import { Files, HOST, type Manners, URL_2 } from "./file-servers.js";
import { Lamp, type LampOptions } from "./lamp.js";
import {
  each,
  ends,
  failed,
  firmwareOnly,
  LONG,
  lampWith,
  MINUTE,
  SIZE,
  stays,
  UPDATED,
} from "./reported.js";

const SHAPE: LampOptions = { connections: 2 };

const invalid = (key: string, problem: string) => `invalid assignment (${key} ${problem})`;
/**
 * Changed attributes, and the reason that is reported. All wrong types: test/src/wire/wire.test.ts.
 */
for (const [title, change, error, allow] of [
  ["a size of 0", { fw_size: 0 }, invalid("fw_size", "must be an integer from 1 to 2147483647")],
  ["an image larger than the slot", { fw_size: 16 * 4096 + 1 }, "too large (65537 of 65536 bytes)"],
  ["no checksum", { fw_checksum: undefined }, "incomplete assignment (fw_checksum is missing)"],
  ["a title that is a path", { fw_title: "../../lamp" }, "other title"],
  ["a version of 300 characters", { fw_version: "2".repeat(300) }, invalid("fw_version", "is too long")],
  ["an update that allow() refuses", {}, "refused by allow", () => false],
] as const)
  test(`${title}: FAILED before a byte is fetched`, async (t) => {
    const lamp = lampWith({ ...SHAPE, firmware: { allow } }, {});
    await lamp.pass(700);
    for (const [key, value] of Object.entries(change))
      if (value === undefined) lamp.platform.deleteShared(lamp.device, [key]);
      else lamp.platform.setShared(lamp.device, { [key]: value });
    await ends(t, lamp, failed(error));
    await stays(t, lamp, 0);
  });

each("a title and a version of characters that a path must escape: UPDATED", async (t, shape) => {
  const title = "lämp /../?&#%2f;;";
  const lamp = new Lamp({ ...shape, firmware: { title } });
  lamp.assign(lamp.package("2.0.0", lamp.image("2.0.0", SIZE), { title }));
  await ends(t, lamp, UPDATED);
});

each("an assignment that flips each 3 s: no start before it rests", async (t, shape) => {
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
});

for (const next of ["3.0.0", undefined])
  test(`a Retry-After of an hour does not delay ${next ?? "a withdrawal"}`, async (t) => {
    const lamp = lampWith(SHAPE, {});
    lamp.platform.fault = firmwareOnly(({ path, peer }) => {
      if (!path.includes("2.0.0")) return undefined;
      peer.send("HTTP/1.1 503 \r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n");
      return "hang";
    });
    await lamp.until(() => lamp.fetches.length > 0);
    await lamp.pass(MINUTE);
    t.is(lamp.fetches.length, 1);
    if (next) lamp.release(next, SIZE);
    else lamp.assign(undefined);
    await lamp.until(() => lamp.shown.running === next || lamp.shown.error === "withdrawn", 5 * MINUTE);
    t.pass();
  });

each("a download of which nothing ever comes: FAILED", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(() => "hang");
  await ends(t, lamp, failed("not delivered"));
});

each("nine 503 with Retry-After: 0: UPDATED after 10 s at least", async (t, shape) => {
  const lamp = lampWith(shape, {});
  const at: number[] = [];
  lamp.platform.fault = firmwareOnly((request) => {
    at.push(lamp.machine.clock.now());
    if (at.length > 9) return undefined;
    request.reply(503, "", { "Retry-After": "0" });
    return "hang";
  });
  await ends(t, lamp, UPDATED);
  const waitedMs = (at[9] as number) - (at[0] as number);
  t.true(waitedMs >= 10_000, `${waitedMs} ms for nine attempts`);
});

each("a platform that hands out one byte an answer: FAILED after few requests", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.platform.fault = firmwareOnly(({ peer }) => {
    peer.send("HTTP/1.1 200 \r\n\r\nx");
    peer.end();
    return "hang";
  });
  await ends(t, lamp, failed("not delivered (200)"));
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

each("connections that break within every answer: no byte is fetched twice", async (t, shape) => {
  for (const breakAt of [700, 5000, 12_345, 16_500]) {
    const lamp = lampWith(shape, {}, 40_000);
    lamp.platform.fault = firmwareOnly(() => ({ breakAt }));
    await ends(t, lamp, UPDATED, `${breakAt}`);
    t.is(lamp.machine.fetched.bytes, 40_000, `${breakAt}`);
  }
});

each("a slot that does not keep what was written: FAILED, and never started", async (t, shape) => {
  const lamp = lampWith(shape, {});
  lamp.machine.onOperation = (name) => {
    if (name.startsWith("write 0+")) lamp.machine.slots[1].bytes[9000]! ^= 1;
  };
  await ends(t, lamp, failed("slot changed"));
  t.is(lamp.machine.slots[1].bytes[0], 0xff, "the header is gone");
  await lamp.pass(LONG);
  t.deepEqual(lamp.shown, failed("slot changed"));
  t.deepEqual(lamp.booted, ["1.0.0"]);
});

each("a slot that can't be written: FAILED, and UPDATED when it can", async (t, shape) => {
  const lamp = lampWith(shape, {});
  let full = true;
  lamp.machine.onOperation = (name) => !(full && name.startsWith("write 8192"));
  await ends(t, lamp, failed("slot not writable"));
  full = false;
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("a store that is full: nothing is started, and UPDATED when there is room", async (t, shape) => {
  const lamp = lampWith(shape, {});
  let full = true;
  lamp.machine.onOperation = (name) => !(full && name === "store firmware");
  await lamp.pass(10 * MINUTE);
  t.deepEqual(lamp.booted, ["1.0.0"]);
  full = false;
  await ends(t, lamp, UPDATED);
});

// Packages with an address of their own (fw_url): seen from the platform's side, and from the file
// server's.

const FILE = "/lamp/2.0.0.bin?key=s3cret";
const ETAG = '"7f-1"';
const BARE = ["checksum", "algorithm"] as const;
const ALL = ["size", ...BARE] as const;
const to = (Location: string, status = 302): Manners => ({
  answers: { [FILE]: { status, headers: { Location } } },
});
/** A chain of redirects. */
const chain = (length: number): Manners => ({
  answers: Object.fromEntries(
    Array.from({ length }, (_, i) => [
      i === 0 ? FILE : `/${i}`,
      { status: 302, headers: { Location: `/${i + 1}` } },
    ]),
  ),
});
const redirect = (why: string) => `redirect refused (${why})`;
const OTHER_LENGTH = "wrong length";
const NEEDS_SIGNATURE = "unsigned over http";

/**
 * What the file server does, and what the platform says of the package (`says`, changed by
 * `change`). Without `error` it ends UPDATED.
 */
interface Case {
  readonly manners?: Manners;
  readonly firmware?: Partial<FirmwareOptions>;
  readonly url?: string;
  readonly says?: readonly (typeof ALL)[number][];
  readonly change?: object;
  readonly bytes?: number;
  readonly error?: string;
  /** Requests to the file server, and bytes that it sent. */
  readonly requests?: number;
  readonly sent?: number;
}

const COMPRESSED = "compressed file";
const CASES: Readonly<Record<string, Case>> = {
  "a server with ranges and an ETag": { manners: { etag: ETAG }, requests: 1, sent: SIZE },
  "a server with ranges alone": { requests: 1, sent: SIZE },
  "a server without ranges": { manners: { ranges: false }, sent: SIZE },
  "a server that states no length": { manners: { ranges: false, hidesLength: true }, sent: SIZE },
  "dropped connections, with an ETag": {
    manners: { etag: ETAG, drops: [1, 1000, 4095, 4097, 9001, 19_999] },
    sent: SIZE,
  },
  "a dropped connection, without ranges": {
    manners: { ranges: false, drops: [10_000] },
    sent: SIZE + 10_000,
  },
  "no fw_size": { says: BARE },
  "no fw_size, without ranges": { says: BARE, manners: { ranges: false } },
  "no fw_size, and a file larger than the slot": {
    says: BARE,
    bytes: 70_000,
    error: "too large (70000 of 65536 bytes)",
  },
  "no fw_size, and no length of the server's": {
    says: BARE,
    manners: { ranges: false, hidesLength: true },
    error: "no length",
  },
  "a file in gzip": { manners: { coding: "gzip", ranges: false }, error: COMPRESSED, requests: 1 },
  "a file in gzip, with ranges": {
    manners: { coding: "x-gzip", etag: ETAG },
    error: COMPRESSED,
    requests: 1,
  },
  "no fw_size, and a file in gzip": {
    says: BARE,
    manners: { coding: "br", ranges: false },
    error: COMPRESSED,
  },
  "a file in no coding": { manners: { coding: "identity" } },
  "no checksum": {
    says: [],
    error: "no checksum",
    requests: 0,
  },
  "no checksum, with allowUnverified": { says: [], firmware: { allowUnverified: true } },
  "a wrong checksum, with allowUnverified": {
    firmware: { allowUnverified: true },
    change: { checksum: "0".repeat(64) },
    error: "wrong checksum",
  },
  "a file shorter than fw_size": { change: { size: SIZE + 1 }, error: OTHER_LENGTH },
  "a file longer than fw_size, without a length": {
    manners: { ranges: false, hidesLength: true },
    change: { size: SIZE - 1 },
    error: OTHER_LENGTH,
  },
  "a host that is not listed": {
    firmware: { urlHosts: [`${HOST}:8443`] },
    error: `host not in urlHosts (${HOST})`,
    requests: 0,
  },
  "a blank and an umlaut in the path": { url: `https://${HOST}/My Geräte/2.0.0.bin` },
  "a user name in the address": {
    url: `https://me:pw@${HOST}/2.0.0.bin`,
    error: "invalid fw_url (it must not contain a user name, password or @)",
    requests: 0,
  },
  "a host name with an umlaut": {
    url: "https://geräte.test/2.0.0.bin",
    error: "invalid fw_url (it must have an ASCII host name, an IPv4 address or an IPv6 address in brackets)",
    requests: 0,
  },
  "another scheme": {
    url: `ftp://${HOST}/2.0.0.bin`,
    error: "invalid fw_url (it must begin with http:// or https://, in one line)",
    requests: 0,
  },
  "an absolute redirect": { manners: to(`https://${HOST}/b`) },
  "a redirect in the same folder": { manners: to("../b") },
  "a redirect without a scheme": { manners: to(`//${HOST}/b`) },
  "five redirects": { manners: chain(5) },
  "six redirects": { manners: chain(6), error: redirect("more than 5") },
  "a redirect to a host that is not listed": {
    manners: to("https://other.test/b", 307),
    error: redirect("host not in urlHosts: other.test"),
    requests: 1,
  },
  "a redirect to http": { manners: to(`http://${HOST}/b`, 301), error: redirect("from https to http") },
  "a redirect to http, with allowHttp": { manners: to(`http://${HOST}/b`), firmware: { allowHttp: true } },
  "a redirect to another kind of address": {
    manners: to("ftp://files.test/b"),
    error: redirect("no address"),
  },
  "a redirect with a user name": { manners: to(`https://a:b@${HOST}/b`), error: redirect("no address") },
  "over http": { url: `http://${HOST}/2.0.0.bin`, error: NEEDS_SIGNATURE, requests: 0 },
  "over http, with allowHttp": { url: `http://${HOST}/2.0.0.bin`, firmware: { allowHttp: true } },
  "a busy server": { manners: { busy: { status: 503, times: 3 } } },
  "a server that is always busy": {
    manners: { busy: { status: 503, times: 1e9 } },
    error: "not delivered (503)",
  },
};

for (const [
  title,
  { manners, firmware, url, says = ALL, change, bytes, error, requests, sent },
] of Object.entries(CASES))
  each(`fw_url, ${title}: ${error ? "FAILED" : "UPDATED"}`, async (t, shape) => {
    const options = { ...shape, firmware: { urlHosts: [HOST], ...firmware } };
    const files = new Files(options, structuredClone(manners), bytes);
    const { all, lamp } = files;
    files.assign(url, { ...Object.fromEntries(says.map((key) => [key, all[key]])), ...change });
    await ends(t, lamp, error ? failed(error) : UPDATED);
    if (requests !== undefined && (requests === 0 || shape.connections === 3))
      t.is(files.seen.length, requests);
    if (sent !== undefined) t.is(files.sent, sent, "not a byte is fetched twice");
    if (error) t.false(lamp.machine.operations.includes("activate"));
    if (!says.includes("size") && bytes)
      t.false(lamp.machine.operations.some((one) => one.startsWith("erase")));
  });

each("the server never hears of the token, and gets the address to the letter", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { urlHosts: [HOST] } });
  files.assign();
  const { lamp } = files;
  await lamp.untilState("UPDATED", "FAILED");
  t.is(lamp.fetches.length, 0);
  for (const { path, headers } of files.seen) {
    t.deepEqual([path, headers.host], [FILE, HOST]);
    t.false(JSON.stringify(headers).includes("lamp-token"));
  }
  const reported = JSON.stringify([lamp.machine.lines, lamp.platform.points(lamp.device, "fw_error")]);
  t.false(reported.includes("s3cret"));
});

each("a file that was replaced midway is fetched from the start, not patched together", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { urlHosts: [HOST] } }, { etag: ETAG, drops: [10_000] });
  const right = files.image;
  files.assign();
  files.image = right.map((byte) => byte ^ 1);
  await files.lamp.until(() => files.sent === 10_000);
  files.image = right;
  files.manners.etag = '"7f-2"';
  await ends(t, files.lamp, UPDATED);
  // What the replaced file's server still sent was not taken.
  t.is(files.sent, 10_000 + 10_000 + SIZE);
});

each("a file without an ETag that changes midway is fetched anew once", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { urlHosts: [HOST] } }, { drops: [10_000] });
  const right = files.image;
  files.assign();
  files.image = right.map((byte) => byte ^ 1);
  await files.lamp.until(() => files.sent === 10_000);
  files.image = right;
  await ends(t, files.lamp, UPDATED);
  t.is(files.sent, 2 * SIZE);
  t.false(files.lamp.states.includes("FAILED"));
});

each("a file without an ETag that is wrong twice: FAILED, and not fetched again", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { urlHosts: [HOST] } });
  files.assign(URL_2, { ...files.all, checksum: "0".repeat(64) });
  await ends(t, files.lamp, failed("wrong checksum"));
  await files.lamp.pass(LONG);
  t.is(files.sent, 2 * SIZE);
});

each("an image without a checksum that changes in the slot does not start", async (t, shape) => {
  const files = new Files({ ...shape, firmware: { urlHosts: [HOST], allowUnverified: true } });
  files.lamp.machine.onOperation = (name) => {
    if (name.startsWith("write 0+")) files.lamp.machine.slots[1].bytes[9000]! ^= 1;
  };
  files.assign(URL_2, {});
  await ends(t, files.lamp, failed("slot changed"));
});

each("a refusal of the server fails by name and is tried again", async (t, shape) => {
  const files = new Files(
    { ...shape, firmware: { urlHosts: [HOST] } },
    { answers: { [FILE]: { status: 404 } } },
  );
  files.assign();
  await ends(t, files.lamp, failed("download refused (404)"));
  files.manners.answers = {};
  await files.lamp.untilState("UPDATED");
});

for (const status of [404, 503])
  each(`a server that answers ${status} midway: FAILED by name after a few requests`, async (t, shape) => {
    const files = new Files({ ...shape, firmware: { urlHosts: [HOST] } }, { drops: [10_000] });
    files.assign();
    await files.lamp.until(() => files.sent === 10_000);
    files.manners.busy = { status, times: 1000 };
    const before = files.seen.length;
    await files.lamp.untilState("UPDATED", "FAILED");
    t.regex(`${files.lamp.shown.error}`, new RegExp(`${status}`));
    t.true(files.seen.length - before <= 12, `${files.seen.length - before} requests`);
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
  await ends(t, lamp, UPDATED);
});

each("an image without a signature is refused before a byte is fetched", async (t, shape) => {
  const lamp = signedLamp(shape, undefined);
  await ends(t, lamp, failed("no signature"));
  await stays(t, lamp, 0);
});

for (const algorithm of [undefined, "MD5"] as const) {
  each(`an image that somebody else signed gets no header (${algorithm ?? "SHA256"})`, async (t, shape) => {
    const lamp = signedLamp(shape, other, algorithm);
    await ends(t, lamp, failed("wrong signature"));
    t.true(lamp.machine.slots[1].bytes.subarray(0, 32).every((byte) => byte === 0xff));
    t.false(lamp.machine.operations.some((name) => name.startsWith("write 0+")));
    await stays(t, lamp);
  });
}

test("over http a signed image is taken, an unsigned one is not", async (t) => {
  const agent = { baseUrl: "http://platform.test" };
  const signed = signedLamp({ agent }, maker);
  await ends(t, signed, UPDATED);
  const lamp = new Lamp({ agent });
  lamp.release("2.0.0", SIZE);
  await ends(t, lamp, failed("unsigned over http"));
});
