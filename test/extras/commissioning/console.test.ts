import { rootCertificates } from "node:tls";
import test from "ava";
import { splitWords } from "../../../extras/commissioning/console.js";
import { LineReader } from "../../../extras/commissioning/lines.js";
import { fakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { GOOD, rig, TOKEN, URL } from "./rig.js";

test("set line by line, it says what is missing, begins when nothing is, and says that it is kept", async (t) => {
  const { console, said, checked, commissioning } = rig();
  console.line('set wifi "home" "correct horse"');
  t.regex(said.at(-1)!, /! the platform's address .*\n! an access token, or/);
  console.line(`set url ${URL}`);
  console.line(`set provisioning ${KEY} ${SECRET}`);
  t.is(said.at(-1), "checking ...\n");
  console.line("set wifi garden");
  t.is(said.at(-1), "not now: it is checking\n");
  await checked();
  t.is(said.at(-1), "connected, and kept\n");
  t.is(commissioning.state, "done");
});

test("a wrong password comes back with its reason", async (t) => {
  const { console, said, checked } = rig({
    before: { url: URL, key: KEY, secret: SECRET },
    join: () => ({ field: "password", reason: "the Wi-Fi's password is wrong" }),
  });
  console.line("set wifi home wrong-horse");
  await checked();
  t.is(said.at(-1), "! the Wi-Fi's password is wrong\n");
});

test("show says what is set, and of secrets only whether", (t) => {
  const { console, said } = rig({ before: { ...GOOD, token: TOKEN } });
  console.line("show");
  const shown = said.join("");
  t.is(
    shown,
    `wifi          "home", password set\nurl           ${URL}, certificate built in\ntoken         set\nprovisioning  set\nstate         open\n`,
  );
});

test("what is no command, and no right one, is reported, and never echoed", (t) => {
  const { console, said } = rig();
  for (const line of [
    "sett wifi home secret-word",
    "set wifi",
    "set wifi a secret-word c",
    "set constructor secret-word",
    "set token",
    'set token "secret-word',
    "set token secret-word\\",
    'set url ""',
    "toString secret-word",
    "set label short",
  ])
    console.line(line);
  t.is(said.length, 10);
  t.false(said.join("").includes("secret-word"));
  console.line("   ");
  t.is(said.length, 10);
});

test("help names every command, and reset is passed on", (t) => {
  const { console, said, resets } = rig();
  console.line("help");
  for (const command of ["set wifi", "set url", "set token", "set provisioning", "set ca", "show", "reset"])
    t.true(said[0]!.includes(command), command);
  console.line("reset");
  t.deepEqual(resets, ["reset"]);
});

const [PEM = ""] = rootCertificates;

test("a certificate is pasted line by line, each with its number, and taken at its last line", (t) => {
  const { console, said, entry } = rig();
  console.line("set ca");
  const lines = PEM.trim().split("\n");
  for (const line of lines) console.line(`${line}\r`);
  t.deepEqual(
    said.slice(1, lines.length).map((text) => text.trim()),
    lines.slice(1).map((_, i) => String(i + 1)),
  );
  t.true(entry.view.has.ca);
  console.line("show");
  t.true(said.some((text) => text.includes("certificate set")));
});

test("a certificate of which a line is lost, or that ends nowhere, is not taken, and the console goes on", (t) => {
  const { console, said, entry } = rig();
  console.line("set ca");
  console.line("-----BEGIN CERTIFICATE-----");
  console.line(undefined);
  t.regex(said.at(-1)!, /a line of the certificate was lost/);
  console.line("set ca");
  console.line(".");
  t.is(said.at(-1), "given up\n");
  console.line("set ca");
  for (let i = 0; i < 100; i++) console.line("A".repeat(64));
  t.true(said.some((text) => text.includes("longer than a certificate")));
  console.line(undefined);
  t.is(said.at(-1), "that line can't be read\n");
  const damaged = PEM.trim().split("\n");
  damaged.splice(5, 1);
  for (const line of ["set ca", ...damaged]) console.line(line);
  t.regex(said.at(-1)!, /no certificate/);
  t.false(entry.view.has.ca);
});

test("words may be quoted, and hold quotes", (t) => {
  t.deepEqual(splitWords(`set  wifi "My home" 'a "b" \\c' d\\ e "f\\"g"`), [
    "set",
    "wifi",
    "My home",
    'a "b" \\c',
    "d e",
    'f"g',
  ]);
  t.deepEqual(splitWords('a ""'), ["a", ""]);
  t.is(splitWords("a 'b"), undefined);
  t.is(splitWords("a\\"), undefined);
});

test("lines come out of what is typed: ends of either kind, corrections, and nothing of what can't be one", (t) => {
  const lines: (string | undefined)[] = [];
  const reader = new LineReader(fakeHost(), (line) => lines.push(line));
  reader.feed(Buffer.from("one\r\ntwo\nthrea\u007fe\rgrün\u0008\u0008ün\n"));
  t.deepEqual(lines, ["one", "two", "three", "grün"]);
  reader.feed(Buffer.from([0x1b, 0x5b, 0x41, 0x0a, 0xff, 0x0a]));
  t.deepEqual(lines.slice(4), [undefined, undefined]);
  reader.feed(Buffer.alloc(100_000, "x"));
  reader.feed(Buffer.from("\nshow\n"));
  t.deepEqual(lines.slice(6), [undefined, "show"]);
});
