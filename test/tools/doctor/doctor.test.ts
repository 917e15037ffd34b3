// `mote doctor` against local platforms, servers that are none, and certificates of several kinds.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import test from "ava";
import { asker } from "../../../tools/doctor/asker.js";
import type { Finding } from "../../../tools/doctor/finding.js";
import { clock, isPlatform, known, polls } from "../../../tools/doctor/platform.js";
import { validity } from "../../../tools/doctor/tls.js";
import { listen } from "../../fakes/listen.js";
import { CERT, KEY } from "../../hosts/port/tls-fixture.js";
import { Authorities } from "../../x509/authority.js";
import { asTenant, killAll, mote, type Result } from "../cli/commands.js";
import { operatorOf } from "../operator-of.js";
import { platformFor } from "../platform-for.js";
import { scratch } from "../scratch.js";

const home = scratch();
const TOKEN = "doctor-token-of-a-test";
const made = new Authorities();
const CA = "critical,CA:TRUE";
const LOCALHOST = { names: "DNS:localhost,IP:127.0.0.1", constraints: "critical,CA:FALSE" };
const days = [-1, 3650] as const;
const authority = made.issue("mote test authority", undefined, { constraints: CA, days });
const server = made.issue("server", authority, { ...LOCALHOST, days: [-1, 300] });
const root = made.issue("mote test root", undefined, { constraints: CA, days });
const intermediate = made.issue("mote test intermediate", root, { constraints: CA, days });
const leaf = made.issue("server", intermediate, { ...LOCALHOST, days: [-1, 300] });

test.after.always(() => {
  killAll();
  made.remove();
});

function doctor(args: string[], env: Record<string, string> = {}): Promise<Result> {
  return mote(["doctor", "--quick", ...args], { MOTE_LOGIN: join(home, "none.json"), MODDABLE: "", ...env });
}

function file(name: string, text: string): string {
  const path = join(home, name);
  writeFileSync(path, text);
  return path;
}

async function levels(args: string[], env: Record<string, string> = {}): Promise<Record<string, string>> {
  const { out, err } = await doctor([...args, "--json"], env);
  if (out === "") throw new Error(err);
  return Object.fromEntries((JSON.parse(out) as Finding[]).map(({ what, level }) => [what, level]));
}

test("names a redirect's target, and takes no rate limit for a bad token", (t) => {
  const answer = (status: number, text = "", location?: string) => ({
    status,
    text,
    location,
    date: 0,
    tookMs: 1,
  });
  t.like(isPlatform(answer(301, "", "https://iot.example.com/api")), {
    level: "bad",
    text: "status 301: redirects to https://iot.example.com/api",
  });
  for (const status of [429, 500, 503]) t.is(known(answer(status)).level, "warning");
  t.is(known(answer(500, "{}")).level, "bad");
});

test("checks the whole device API over http and shows no token", async (t) => {
  const platform = await platformFor(t);
  const operator = await operatorOf(platform);
  await operator.devices.create({ name: "green" }, TOKEN);
  const { code, out, err } = await doctor(["--device", "green"], asTenant(platform.url));
  t.is(code, 0, out + err);
  for (const line of [
    /^warning {2}TLS: the base URL is http/m,
    /^good {5}platform: speaks the device API$/m,
    /^good {5}clock: /m,
    /^good {5}access token: /m,
    /^good {5}attributes: written and read back in \d+ ms$/m,
    /^good {5}RPC: there and back in \d+ ms$/m,
    /^- {8}polls: not measured/m,
    /^- {8}Moddable SDK: \$MODDABLE is not set/m,
  ])
    t.regex(out, line);
  t.false((out + err).includes(TOKEN));
});

test("a wrong token, another server and nobody there are bad, and each says what to do", async (t) => {
  const platform = await platformFor(t);
  const wrong = await doctor(["--url", platform.url, "--token", "nobodys"]);
  t.is(wrong.code, 1);
  t.regex(wrong.out, /BAD {6}access token: unknown to the platform \(401\)\n +Check that it belongs/);
  const page = createServer((_, response) => response.end("<html>"));
  const other = await doctor(["--url", `http://127.0.0.1:${await listen(page, t)}`]);
  t.is(other.code, 1);
  t.regex(other.out, /BAD {6}platform: status 200 for an unknown token/);
  const nobody = await doctor(["--url", "http://127.0.0.1:9"]);
  t.is(nobody.code, 1);
  t.regex(nobody.out, /BAD {6}platform: no answer/);
  t.is((await levels(["--url", "https://no-such-host.invalid"])).name, "bad");
});

test("a chain as a board needs it is good, and its authority is written as DER", async (t) => {
  const platform = await platformFor(t, { tlsCert: server.cert + authority.cert, tlsKey: server.key });
  const der = join(home, "ca.der");
  const args = ["--url", platform.url, "--ca", authority.certPath, "--write-ca", der];
  t.like(await levels(args), {
    certificate: "good",
    chain: "good",
    dates: "good",
    "TLS 1.2": "good",
    platform: "good",
  });
  const body = authority.cert.replace(/-----[^-]+-----|\s/g, "");
  t.deepEqual(readFileSync(der), Buffer.from(body, "base64"));
  const strange = await doctor(["--url", platform.url]);
  t.is(strange.code, 1);
  t.regex(
    strange.out,
    /BAD {6}certificate: it is not trusted: SELF_SIGNED_CERT_IN_CHAIN\n +With your own CA: --ca FILE/,
  );
  // Whoever answers in the platform's place would be trusted by the board.
  const sent = await doctor(["--url", platform.url, "--write-ca", join(home, "sent.der")]);
  t.is(sent.code, 2);
  t.false(existsSync(join(home, "sent.der")));
});

test("warns of an expiring CA 60 days before, of a server certificate 21 days before", (t) => {
  const now = Date.UTC(2026, 10, 23);
  const ending = (days: number) => ({
    validFrom: new Date(0).toUTCString(),
    validTo: new Date(now + days * 86_400_000).toUTCString(),
    subject: `CN=ends in ${days}`,
  });
  const level = (...days: number[]) => validity(days.map(ending), now).level;
  t.deepEqual(
    [level(22, 61), level(20, 3650), level(90, 59), level(90, 3650, 59)],
    [...["good", "warning", "warning", "warning"]],
  );
  t.deepEqual([level(-1, 3650), level(90, -1)], ["bad", "bad"]);
  t.like(validity([ending(90), ending(59)], now), {
    text: "the authority CN=ends in 59 ends Thu, 21 Jan 2027 00:00:00 GMT",
  });
});

test("a certificate that the trusted root issued itself needs no other beside it", async (t) => {
  const alone = await platformFor(t, { tlsCert: server.cert, tlsKey: server.key });
  const { code, out } = await doctor(["--url", alone.url, "--ca", authority.certPath]);
  t.is(code, 0, out);
  t.regex(out, /^good {5}chain: the server sends its own certificate, which the trusted root issued$/m);
  const unknown = await doctor(["--url", alone.url, "--write-ca", join(home, "none.der")]);
  t.is(unknown.code, 2);
  t.regex(unknown.err, /no CA certificate to write: the server's is not trusted \(add --ca FILE\)/);
});

test("a server that leaves the issuer out, and one that signed itself, are reported", async (t) => {
  const alone = await platformFor(t, { tlsCert: leaf.cert, tlsKey: leaf.key });
  // With the intermediate in --ca this machine finds the way; a board, which has the root alone,
  // does not.
  for (const [at, ca] of [root.cert, root.cert + intermediate.cert].entries()) {
    const found = await doctor(["--url", alone.url, "--ca", file(`root-${at}.pem`, ca)]);
    t.is(found.code, 1);
    t.regex(found.out, /BAD {6}chain: the server sends only its own certificate/);
  }
  const whole = await platformFor(t, { tlsCert: leaf.cert + intermediate.cert, tlsKey: leaf.key });
  const args = ["--url", whole.url, "--ca", root.certPath];
  t.like(await levels(args), { certificate: "good", chain: "good" });
  const self = await platformFor(t, { tlsCert: CERT, tlsKey: KEY });
  t.like(await levels(["--url", self.url, "--ca", file("self.pem", CERT)]), {
    certificate: "good",
    chain: "warning",
  });
  const plain = await platformFor(t);
  t.is((await levels(["--url", plain.url.replace("http:", "https:")])).TLS, "bad");
});

test("a server that answers without ever coming to an end is given up in time", async (t) => {
  const server = createServer((_, response) => {
    const drip = setInterval(() => response.write("x"), 20);
    response.once("close", () => clearInterval(drip));
  });
  const ask = asker(`http://127.0.0.1:${await listen(server, t)}`, "token", undefined);
  t.is(await ask("GET", "attributes", undefined, 300), undefined);
});

test("tells by the end of a poll what is in between, and compares clocks", (t) => {
  const after = (status: number, s: number) => ({ status, text: "", date: undefined, tookMs: s * 1000 });
  t.like(polls(after(408, 60)), { level: "good", text: "60 s polls work" });
  t.regex(polls(after(503, 30)).text, /the platform ends them after 30 s with 503/);
  t.regex(polls(after(504, 50)).text, /a proxy ends them after 50 s with 504/);
  t.is(polls(undefined).level, "warning");
  t.is(polls(after(403, 0)).level, "bad");
  t.is(polls(after(200, 3)).level, "warning");
  const dated = (date: number) => clock({ ...after(401, 0), date }, 60_500);
  t.is(dated(60_000).level, "good");
  t.regex(dated(0).text, /60 s behind/);
});
