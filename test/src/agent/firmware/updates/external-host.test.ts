// Packages with an address of their own (fw_url): seen from the platform's side, and from the file server's.
import test from "ava";
import { Agent, MoteError } from "../../../../../src/index.js";
import { fakeHost } from "../../../../fakes/host.js";
import { SECTOR } from "../machine.js";
import { Files, HOST, type Manners, URL_2 } from "./file-servers.js";
import type { LampOptions } from "./lamp.js";
import { each, failed, SIZE, stays, UPDATED } from "./reported.js";

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
  t.deepEqual(files.lamp.shown, failed("the slot does not hold what was written"));
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

each("a file of another length than fw_size is refused before its first byte", async (t, shape) => {
  for (const ranges of [true, false]) {
    const files = new Files({ ...shape, firmware: URL_HOSTS }, { ranges });
    files.assign(URL_2, { ...files.all, size: SIZE + 1 });
    await files.lamp.untilState("UPDATED", "FAILED");
    t.deepEqual(files.lamp.shown, failed("the platform sent another length than was asked for"));
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
  t.deepEqual(sixth.lamp.shown, failed("a redirect of fw_url is not followed (more than 5)"));
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
    t.deepEqual(files.lamp.shown, failed(`a redirect of fw_url is not followed (${error})`));
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
  t.deepEqual(refused.lamp.shown, failed("no update over http without a signature or allowHttp"));
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
  t.deepEqual(always.lamp.shown, failed("the server of fw_url does not hand out the file (503)"));
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

test("hosts that can't be are reported when the agent is made", (t) => {
  for (const urlHosts of [
    "files.test",
    ["https://files.test"],
    ["Files.test"],
    [""],
    ["a/b"],
    ["a:b"],
    [5],
  ]) {
    const firmware = { title: "lamp", version: "1", urlHosts: urlHosts as string[] };
    const error = t.throws(() => new Agent(fakeHost(), { baseUrl: "https://p.test", token: "T", firmware }));
    t.true(
      error instanceof MoteError && /firmware\.urlHosts lists hosts/.test(error.message),
      String(urlHosts),
    );
  }
  const firmware = {
    title: "l",
    version: "1",
    urlHosts: ["a", "127.0.0.1:8080", "[::1]:9", "b:80", "b:443"],
  };
  t.notThrows(() => new Agent(fakeHost(), { baseUrl: "https://p.test", token: "T", firmware }));
});
