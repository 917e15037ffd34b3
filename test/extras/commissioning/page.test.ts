// The setup page as a browser asks for it: requests, forms, sessions, and the portal's name server.
import { createHash } from "node:crypto";
import test from "ava";
import { answerDns } from "../../../extras/commissioning/dns.js";
import { STYLE, STYLE_HASH } from "../../../extras/commissioning/page.js";
import { PageServer } from "../../../extras/commissioning/page-server.js";
import { RequestReader } from "../../../extras/commissioning/request.js";
import { fakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { GOOD, PROOF, rig, TOKEN, URL } from "./rig.js";

test("the page is one small document without scripts, allows its own style alone, and no browser keeps it", async (t) => {
  const { status, text, closed } = await rig().get();
  t.is(status, 200);
  t.true(closed);
  t.true(text.length < 8192, `${text.length} bytes`);
  const [head = "", body = ""] = text.split("\r\n\r\n");
  t.notRegex(body, /<script|src=|href="(?!\/")|url\(|@import|javascript:/);
  t.is(createHash("sha256").update(STYLE).digest("base64"), STYLE_HASH);
  for (const line of [
    `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "X-Frame-Options: DENY",
    "Connection: close",
  ])
    t.true(head.split("\r\n").includes(line), line);
});

test("the form is checked, shows a reason beside its field, and says when it is stored", async (t) => {
  const { get, post, checked } = rig({
    join: ({ password }) =>
      password === GOOD.password ? undefined : { field: "password", reason: "the Wi-Fi's password is wrong" },
  });
  const sent = await post({ ...GOOD, password: "wrong horse" });
  t.deepEqual([sent.status, sent.location], [303, "http://192.168.4.1/"]);
  t.regex((await get()).text, /http-equiv="refresh" content="2"[\s\S]*Joining the Wi-Fi/);
  await checked();
  const { text } = await get("/", { Cookie: `other=1; ${sent.cookie}` });
  t.regex(text, /role="alert"[^>]*><div>The Wi-Fi&#39;s password is wrong\./);
  t.regex(text, /<input id="password"[^>]*aria-invalid="true"/);
  t.regex(text, /<input id="ssid"[^>]*value="home"/);
  await post({ password: GOOD.password }, { Cookie: sent.cookie! });
  await checked();
  t.regex((await get()).text, /Connected\./);
});

test("what one browser entered is neither shown to another nor completed by it; three are remembered", async (t) => {
  const { get, post, joined, commissioning } = rig();
  const stranger = await post({ url: "http://stranger.test", token: "his-token" });
  t.regex((await get("/", { Cookie: stranger.cookie! })).text, /value="http:\/\/stranger\.test"/);
  t.notRegex((await get()).text, /stranger/);
  const owner = await post({ ssid: "home", password: "correct horse" });
  t.not(owner.cookie, stranger.cookie);
  t.deepEqual([commissioning.state, joined.length], ["open", 0]);
  t.truthy((await post({ ssid: "home" }, { Cookie: "visit=" })).cookie, "a cookie that was made up");
  t.is((await post({ token: TOKEN }, { Cookie: owner.cookie! })).cookie, undefined);
  const remembered = async (cookie = ""): Promise<boolean> =>
    /value="(?:home|http:\/\/stranger\.test)"/.test((await get("/", { Cookie: cookie })).text);
  t.deepEqual([await remembered(stranger.cookie), await remembered(owner.cookie)], [true, true]);
  await post({ ssid: "a fourth" });
  t.deepEqual([await remembered(stranger.cookie), await remembered(owner.cookie)], [false, true]);
});

test("no stored secret is on the page, and none shows how long it is; a network's name is text", async (t) => {
  const short = { ...GOOD, token: TOKEN, ca: "CERTIFICATE", label: "on-the-label" };
  const one = await rig({ before: short }).get();
  for (const secret of [GOOD.password, KEY, SECRET, TOKEN, "CERTIFICATE", short.label])
    t.false(one.text.includes(secret), secret);
  const long = {
    password: "p".repeat(60),
    key: "k".repeat(99),
    secret: "s",
    token: "t",
    ca: "C".repeat(999),
    label: "l".repeat(63),
  };
  t.is((await rig({ before: { ...short, ...long } }).get()).text, one.text);
  const { text } = await rig({ before: { ...GOOD, ssid: `<script>"'&` } }).get();
  t.false(text.includes("<script"));
  t.true(text.includes('value="&lt;script&gt;&quot;&#39;&amp;"'));
});

test("each system's look for the internet is led to the page", async (t) => {
  for (const [name, path] of [
    ["connectivitycheck.gstatic.com", "/generate_204"],
    ["clients3.google.com", "/gen_204"],
    ["captive.apple.com", "/hotspot-detect.html"],
    ["www.msftconnecttest.com", "/connecttest.txt"],
    ["detectportal.firefox.com", "/success.txt"],
    ["192.168.4.1", "/generate_204"],
  ] as const) {
    const { status, location, text } = await rig().get(path, { Host: name });
    t.deepEqual([status, location], [302, "http://192.168.4.1/"], name);
    t.false(text.includes(PROOF));
  }
});

test("a form from elsewhere, or without the page's proof, changes nothing", async (t) => {
  const rows: readonly (readonly [values: object, headers: Record<string, string>, status: number])[] = [
    [{}, { Origin: "http://evil.example" }, 403],
    [{}, { Origin: "null" }, 403],
    [{}, { "Sec-Fetch-Site": "cross-site" }, 403],
    [{ proof: PROOF.replace("0", "1") }, {}, 403],
    [{ proof: "" }, {}, 403],
    [{}, { "Content-Type": "text/plain" }, 415],
    // By another name, through the portal.
    [{}, { Host: "evil.example", Origin: "http://evil.example" }, 302],
  ];
  for (const [values, headers, status] of rows) {
    const { post, commissioning, joined } = rig();
    const answer = await post({ ...GOOD, ...values }, headers);
    t.is(answer.status, status, JSON.stringify([values, headers]));
    t.deepEqual([commissioning.state, commissioning.view.url, joined.length], ["open", "", 0]);
  }
});

const FORM = "Content-Type: application/x-www-form-urlencoded";
const formOf = (body: string): string =>
  `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\n${FORM}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

test("takes a form in single bytes; refuses double values, half escapes and too many fields", async (t) => {
  const { send, checked, commissioning } = rig();
  for (const body of ["ssid=a&ssid=b", "ssid=%E4", "ssid=%", `${"a=b&".repeat(40)}a=b`, "ssid=a b"])
    t.is((await send(formOf(body))).status, 400, body);
  t.is(commissioning.state, "open");
  const values = new URLSearchParams({ ...GOOD, url: `${URL}/`, proof: PROOF });
  t.is((await send(...formOf(values.toString()))).status, 303);
  await checked();
  t.is(commissioning.state, "done");
  for (const method of ["PUT", "DELETE", "OPTIONS"])
    t.is((await send(`${method} / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n`)).status, 405);
});

test("a silent visitor is sent away after 15 s; more than four are turned away", async (t) => {
  const { host, context } = rig();
  const server = new PageServer(context, host);
  const closed: number[] = [];
  const visitor = (n: number) => () => ({ write: () => 0, read: () => 0, close: () => void closed.push(n) });
  for (let n = 0; n < 4; n++) t.true(server.accept(visitor(n)));
  t.false(server.accept(visitor(4)));
  await host.clock.advance(15_000);
  t.deepEqual(closed, [0, 1, 2, 3]);
  t.true(server.accept(visitor(5)));
  server.close();
  t.deepEqual(closed, [0, 1, 2, 3, 5]);
});

test("a visitor who is gone at once, or cannot be taken over, keeps no place", (t) => {
  const { host, context } = rig();
  const server = new PageServer(context, host);
  const timers = host.clock.waiting;
  const gone = { write: () => 0, read: () => 0, close: () => {} };
  for (let n = 0; n < 5; n++) {
    t.true(
      server.accept((event) => {
        event("closed");
        return gone;
      }),
    );
    t.throws(() =>
      server.accept(() => {
        throw new Error("no socket left");
      }),
    );
  }
  t.is(host.clock.waiting, timers);
});

test("refuses a form or a visitor while memory is short, before anything is allocated for it", async (t) => {
  const { host, context } = rig();
  let free = 100_000;
  const server = new PageServer(context, Object.assign(host, { hasRoom: (bytes: number) => bytes <= free }));
  const visitor = () => {
    let arrived = "";
    let notify = (_what: "readable" | "closed"): void => {};
    let out = "";
    const isAccepted = server.accept((event) => {
      notify = event;
      return {
        write: (bytes) => {
          out += Buffer.from(bytes);
          return bytes.length;
        },
        read: (into) => {
          const piece = Buffer.from(arrived).subarray(0, into.length);
          arrived = arrived.slice(piece.length);
          into.set(piece);
          return piece.length;
        },
        close: () => {},
      };
    });
    const send = (text: string): string => {
      arrived += text;
      notify("readable");
      return out.slice(9, 12);
    };
    return { isAccepted, send };
  };
  const head = (length: number): string =>
    `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\n${FORM}\r\nContent-Length: ${length}\r\n\r\n`;
  const [first, second, third] = [visitor(), visitor(), visitor()];
  t.is(first.send(head(8000)), "");
  t.is(second.send(head(8000)), "503", "the other form is not read yet");
  t.is(first.send("a".repeat(8000)), "403");
  t.is(third.send(head(8000)), "");
  free = 10_000;
  t.false(visitor().isAccepted);
});

// Requests, by the bytes.

function read(text: string | Uint8Array) {
  const reader = new RequestReader(fakeHost());
  reader.feed(Buffer.from(text as string));
  return reader.request ?? (reader.problem || undefined);
}

test("malformed and oversized requests are refused with their status, whole and byte by byte", (t) => {
  const get = (target: string, headers = "Host: a\r\n"): string => `GET ${target} HTTP/1.1\r\n${headers}\r\n`;
  const post = (headers: string): string => `POST / HTTP/1.1\r\nHost: a\r\n${headers}\r\n`;
  for (const [text, status] of [
    ["GET /\r\nHost: a\r\n\r\n", 400],
    ["GET / HTTP/2.0\r\nHost: a\r\n\r\n", 400],
    ["GET / HTTP/1.1\nHost: a\n\n", 400],
    ["GET / HTTP/1.1\rHost: a\r\n\r\n", 400],
    [get("http://evil/"), 400],
    [get("/a b"), 400],
    [get(`/${"a".repeat(1024)}`), 414],
    [get("/", "Host: a\r\n folded\r\n"), 400],
    [get("/", ": a\r\nHost: a\r\n"), 400],
    [get("/", "Host : a\r\n"), 400],
    [get("/", ""), 400],
    [get("/", "Host: a\r\nHost: a\r\n"), 400],
    [get("/", "Host: a/b@c\r\n"), 400],
    [get("/", "Host: a\r\nX: \u0000\r\n"), 400],
    [get("/", "Host: a\r\nX: \u00e9\r\n"), 400],
    [get("/", "X: y\r\n".repeat(1000)), 431],
    [post("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"), 501],
    [post("Content-Length: 1\r\nContent-Length: 2\r\n"), 400],
    [post("Content-Length: +1\r\n"), 400],
    [post("Content-Length: 1, 1\r\n"), 400],
    [post(""), 411],
    [post("Content-Length: 12289\r\n"), 413],
    [post("Content-Length: 1\r\nExpect: 100-continue\r\n"), 417],
  ] as const) {
    const bytes = Buffer.from(text, "latin1");
    t.is(read(bytes), status, text);
    const reader = new RequestReader(fakeHost());
    for (const byte of bytes) reader.feed(Uint8Array.of(byte));
    t.is(reader.problem, status, text);
  }
});

// The name server. test/fuzz/commission-parsers.ts gives it damaged packets.

const ADDRESS = [192, 168, 4, 1];

function question(name: string, type = 1): Buffer {
  const labels = name.split(".").map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  const head = Buffer.from([0xab, 0xcd, 0x01, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([head, ...labels, Buffer.from([0, 0, type, 0, 1])]);
}

test("every name has the device's IPv4 address, and no other record", (t) => {
  for (const name of ["captive.apple.com", "a", "x".repeat(63)]) {
    const asked = question(name);
    // Records behind the question are left out of the answer.
    const extended = Buffer.concat([asked, Buffer.from([0, 0, 41, 4, 0xd0, 0, 0, 0, 0, 0, 0])]);
    extended[11] = 1;
    for (const packet of [asked, extended]) {
      const answer = Buffer.from(answerDns(packet, ADDRESS)!);
      t.is(answer.length, asked.length + 16);
      const head = [0, 2, 4, 6, 10].map((at) => answer.readUInt16BE(at));
      t.deepEqual(head, [0xabcd, 0x8500, 1, 1, 0]);
      t.deepEqual(answer.subarray(12, asked.length), asked.subarray(12));
      t.deepEqual([...answer.subarray(-16)], [0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...ADDRESS]);
    }
    const ipv6 = Buffer.from(answerDns(question(name, 28), ADDRESS)!);
    t.deepEqual([ipv6.length, ipv6.readUInt16BE(6), ipv6[3]], [asked.length, 0, 0]);
  }
});

test("a packet that is not a plain question gets no answer", (t) => {
  const plain = question("a.b");
  const changed = (at: number, byte: number) => Object.assign(Buffer.from(plain), { [at]: byte });
  for (const [what, packet] of [
    ["an answer", changed(2, 0x81)],
    ["another opcode", changed(2, 0x28)],
    ["no question", changed(5, 0)],
    ["two questions", changed(5, 2)],
    ["an answer in it", changed(7, 1)],
    ["a pointer", changed(12, 0xc0)],
    ["a label of 64", changed(12, 64)],
    ["a name without end", plain.subarray(0, -5)],
    ["no type", plain.subarray(0, -2)],
    ["a name of 300 bytes", question(Array.from({ length: 75 }, () => "abc").join("."))],
    ["nothing", Buffer.alloc(0)],
    ["too much", Buffer.concat([plain, Buffer.alloc(500)])],
  ] as const)
    t.is(answerDns(packet, ADDRESS), undefined, what);
});
