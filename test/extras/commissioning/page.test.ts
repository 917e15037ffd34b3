import { createHash } from "node:crypto";
import test from "ava";
import { STYLE, STYLE_HASH } from "../../../extras/commissioning/page.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { GOOD, PROOF, rig, TOKEN, URL } from "./rig.js";

test("the page is one small document with nothing from elsewhere and no script", async (t) => {
  const { status, text, closed } = await rig().get();
  t.is(status, 200);
  t.true(closed);
  t.true(text.length < 8192, `${text.length} bytes`);
  t.notRegex(text.split("\r\n\r\n")[1]!, /<script|src=|href="(?!\/")|url\(|@import|javascript:/);
});

test("the style that the page has is the only one that is allowed, and nothing is kept by a browser", async (t) => {
  t.is(createHash("sha256").update(STYLE).digest("base64"), STYLE_HASH);
  const { text } = await rig().get();
  const head = text.split("\r\n\r\n")[0]!;
  for (const line of [
    `Content-Security-Policy: default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    "X-Frame-Options: DENY",
    "Connection: close",
  ])
    t.true(head.split("\r\n").includes(line), line);
});

test("from the form to the end: it checks, says so, and says when it is kept", async (t) => {
  const { get, post, checked } = rig();
  const sent = await post(GOOD);
  t.deepEqual([sent.status, sent.location], [303, "http://192.168.4.1/"]);
  const { text } = await get();
  t.regex(text, /http-equiv="refresh" content="2"[\s\S]*Joining the Wi-Fi/);
  await checked();
  t.regex((await get()).text, /Connected\./);
});

test("the reason stands on the page, beside the field that it is about", async (t) => {
  const { get, post, checked } = rig({
    join: () => ({ field: "password", reason: "the Wi-Fi's password is wrong" }),
  });
  const { cookie = "" } = await post(GOOD);
  await checked();
  const { text } = await get("/", { Cookie: `other=1; ${cookie}` });
  t.regex(text, /role="alert"[^>]*><div>The Wi-Fi&#39;s password is wrong\./);
  t.regex(text, /<input id="password"[^>]*aria-invalid="true"/);
  t.regex(text, /<input id="ssid"[^>]*value="home"/);
});

test("what one browser entered is neither shown to another nor completed by it", async (t) => {
  const { get, post, joined, commissioning } = rig();
  const stranger = await post({ url: "http://stranger.test", token: "his-token" });
  t.regex((await get("/", { Cookie: stranger.cookie! })).text, /value="http:\/\/stranger\.test"/);
  t.notRegex((await get()).text, /stranger/);
  const owner = await post({ ssid: "home", password: "correct horse" });
  t.not(owner.cookie, stranger.cookie);
  t.deepEqual([commissioning.state, joined.length], ["open", 0]);
  // A cookie that was made up begins anew.
  const { cookie } = await post({ ssid: "home" }, { Cookie: "visit=" });
  t.truthy(cookie);
  t.is((await post({ token: TOKEN }, { Cookie: owner.cookie! })).cookie, undefined);
  t.regex((await get("/", { Cookie: owner.cookie! })).text, /value="home"/);
});

test("of more than three browsers the first has to enter all again", async (t) => {
  const { get, post } = rig();
  const cookies: string[] = [];
  for (let n = 0; n < 4; n++) cookies.push((await post({ ssid: `home ${n}` })).cookie!);
  const shown = await Promise.all(cookies.map((Cookie) => get("/", { Cookie })));
  t.deepEqual(
    shown.map(({ text }) => /value="home \d"/.test(text)),
    [false, true, true, true],
  );
});

test("no stored secret is on the page, and none shows how long it is", async (t) => {
  const short = { ...GOOD, token: TOKEN, ca: "CERTIFICATE" };
  const one = await rig({ before: short }).get();
  const secrets = [GOOD.password, KEY, SECRET, TOKEN, "CERTIFICATE"];
  for (const secret of secrets) t.false(one.text.includes(secret), secret);
  const long = {
    password: "p".repeat(60),
    key: "k".repeat(99),
    secret: "s",
    token: "t",
    ca: "C".repeat(999),
  };
  t.is((await rig({ before: { ...short, ...long } }).get()).text, one.text);
});

test("a network's name is text, whatever it holds", async (t) => {
  const ssid = `<script>"'&`;
  const { text } = await rig({ before: { ...GOOD, ssid } }).get();
  t.false(text.includes("<script"));
  t.true(text.includes('value="&lt;script&gt;&quot;&#39;&amp;"'));
});

const PROBES = [
  ["Android", "connectivitycheck.gstatic.com", "/generate_204"],
  ["Android of the maker's", "clients3.google.com", "/gen_204"],
  ["Apple", "captive.apple.com", "/hotspot-detect.html"],
  ["Windows", "www.msftconnecttest.com", "/connecttest.txt"],
  ["Firefox", "detectportal.firefox.com", "/success.txt"],
  ["a probe by address", "192.168.4.1", "/generate_204"],
] as const;

for (const [who, name, path] of PROBES)
  test(`${who}'s look for the internet is led to the page`, async (t) => {
    const { get } = rig();
    const { status, location, text } = await get(path, { Host: name });
    t.deepEqual([status, location], [302, "http://192.168.4.1/"]);
    t.false(text.includes(PROOF));
  });

test("where there is no portal another name is refused, and gets no page: its owner had it lead here", async (t) => {
  const { get, post, commissioning } = rig({ isPortal: false });
  for (const name of ["evil.example", "192.168.4.1.evil.example", "192.168.4.1:81"])
    t.is((await get("/", { Host: name })).status, 403, name);
  t.is((await post(GOOD, { Host: "evil.example", Origin: "http://evil.example" })).status, 403);
  t.is((await get("/elsewhere")).status, 404);
  t.is(commissioning.state, "open");
});

const FOREIGN: readonly (readonly [string, object, object, number])[] = [
  ["another origin", {}, { Origin: "http://evil.example" }, 403],
  ["an origin that is hidden", {}, { Origin: "null" }, 403],
  ["another site", {}, { "Sec-Fetch-Site": "cross-site" }, 403],
  ["a wrong proof", { proof: PROOF.replace("0", "1") }, {}, 403],
  ["no proof", { proof: "" }, {}, 403],
  ["a form of another type", {}, { "Content-Type": "text/plain" }, 415],
];

for (const [what, values, headers, status] of FOREIGN)
  test(`a form with ${what} changes nothing`, async (t) => {
    const { post, commissioning, joined } = rig();
    const answer = await post({ ...GOOD, ...values }, headers as Record<string, string>);
    t.is(answer.status, status);
    t.is(commissioning.state, "open");
    t.deepEqual(commissioning.view.url, "");
    t.is(joined.length, 0);
  });

test("a form that another name sends through the portal is led away, and changes nothing", async (t) => {
  const { post, commissioning } = rig();
  t.is((await post(GOOD, { Host: "evil.example", Origin: "http://evil.example" })).status, 302);
  t.is(commissioning.state, "open");
});

test("other methods are refused; HEAD gets a head alone", async (t) => {
  const { send, get } = rig();
  for (const method of ["PUT", "DELETE", "OPTIONS"])
    t.is((await send(`${method} / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n`)).status, 405);
  const { text } = await send("HEAD / HTTP/1.1\r\nHost: 192.168.4.1\r\n\r\n");
  const whole = (await get()).text;
  t.is(text, `${whole.split("\r\n\r\n")[0]}\r\n\r\n`);
});

test("a value twice, half an escape, and too many fields are no form", async (t) => {
  const { send, commissioning } = rig();
  for (const body of ["ssid=a&ssid=b", "ssid=%E4", "ssid=%", `${"a=b&".repeat(40)}a=b`, "ssid=a b"]) {
    const head = `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n`;
    t.is((await send(head, body)).status, 400, body);
  }
  t.is(commissioning.state, "open");
});

test("a visitor who says nothing, or half of it, is sent away after 15 s; more than four are turned away", async (t) => {
  const { host, context } = rig();
  const { PageServer } = await import("../../../extras/commissioning/page-server.js");
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

test("a form that comes in single bytes is the same form", async (t) => {
  const { send, checked, commissioning } = rig();
  const body = new URLSearchParams({ ...GOOD, url: `${URL}/`, proof: PROOF }).toString();
  const text = `POST / HTTP/1.1\r\nHost: 192.168.4.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const { status } = await send(...text);
  t.is(status, 303);
  await checked();
  t.is(commissioning.state, "done");
});
