// The console on the serial line: its commands, certificates line by line, and what is typed.
import { rootCertificates } from "node:tls";
import test from "ava";
import { splitWords } from "../../../extras/commissioning/console.js";
import { LineReader } from "../../../extras/commissioning/lines.js";
import { fakeHost } from "../../fakes/host.js";
import { KEY, SECRET } from "../../fakes/platform.js";
import { GOOD, rig, TOKEN, URL } from "./rig.js";

test("set line by line, it says what is missing, checks when nothing is, and says why or that it is kept", async (t) => {
  const { console, said, checked } = rig({
    join: ({ password }) =>
      password === GOOD.password ? undefined : { field: "password", reason: "the Wi-Fi's password is wrong" },
  });
  console.line('set wifi "home" wrong-horse');
  t.regex(said.at(-1)!, /! the platform's address .*\n! an access token, or/);
  console.line(`set url ${URL}`);
  console.line(`set provisioning ${KEY} ${SECRET}`);
  t.is(said.at(-1), "checking ...\n");
  console.line("set wifi garden");
  t.is(said.at(-1), "busy: still checking the earlier settings\n");
  await checked();
  t.is(said.at(-1), "! the Wi-Fi's password is wrong\n");
  console.line('set wifi "home" "correct horse"');
  await checked();
  t.is(said.at(-1), "connected; settings saved\n");
});

test("show says what is set, and of secrets only whether; help names every command; reset is passed on", (t) => {
  const { console, said, resets } = rig({ before: { ...GOOD, token: TOKEN } });
  console.line("show");
  t.is(
    said.splice(0).join(""),
    `wifi          "home", password set\nurl           ${URL}, certificate built in\ntoken         set\nprovisioning  set\nstate         open\n`,
  );
  console.line("help");
  for (const command of ["set wifi", "set url", "set token", "set provisioning", "set ca", "show", "reset"])
    t.true(said[0]!.includes(command), command);
  console.line("reset");
  t.deepEqual(resets, ["reset"]);
});

test("a wrong command is reported, and never echoed", (t) => {
  const { console, said } = rig();
  const lines = [
    ...["sett wifi home secret-word", "set wifi", "set wifi a secret-word c", "set constructor secret-word"],
    ...["set token", 'set token "secret-word', "set token secret-word\\", 'set url ""'],
    ...["toString secret-word", "set label short"],
  ];
  for (const line of lines) console.line(line);
  console.line("   ");
  t.is(said.length, lines.length);
  t.false(said.join("").includes("secret-word"));
});

test("takes a pasted certificate at its last line, unless it is cut, endless or damaged", (t) => {
  const [pem = ""] = rootCertificates;
  const lines = pem.trim().split("\n");
  const { console, said, entry } = rig();
  const paste = (pasted: readonly (string | undefined)[]): string => {
    console.line("set ca");
    for (const line of pasted) console.line(line);
    return said.at(-1)!;
  };
  t.regex(paste(["-----BEGIN CERTIFICATE-----", undefined]), /a line of the certificate was lost/);
  t.is(paste(["."]), "cancelled\n");
  paste(Array(100).fill("A".repeat(64)));
  t.true(said.some((text) => text.includes("longer than a certificate")));
  console.line(undefined);
  t.is(said.at(-1), "unreadable line\n");
  t.regex(paste(lines.toSpliced(5, 1)), /not a certificate/);
  t.false(entry.view.has.ca);
  said.length = 0;
  paste(lines.map((line) => `${line}\r`));
  t.deepEqual(
    said.slice(1, lines.length).map((text) => text.trim()),
    lines.slice(1).map((_, i) => String(i + 1)),
  );
  t.true(entry.view.has.ca);
});

test("words may be quoted, and hold quotes", (t) => {
  for (const [line, words] of [
    [`set  wifi "My home" 'a "b" \\c' d\\ e "f\\"g"`, ["set", "wifi", "My home", 'a "b" \\c', "d e", 'f"g']],
    ['a ""', ["a", ""]],
    ["a 'b", undefined],
    ["a\\", undefined],
  ] as const)
    t.deepEqual(splitWords(line), words as string[] | undefined);
});

test("lines come out of what is typed: ends of either kind, corrections, and nothing of what can't be one", (t) => {
  const lines: (string | undefined)[] = [];
  const reader = new LineReader(fakeHost(), (line) => lines.push(line));
  reader.feed(Buffer.from("one\r\ntwo\nthrea\u007fe\rgrün\u0008\u0008ün\n"));
  reader.feed(Buffer.from([0x1b, 0x5b, 0x41, 0x0a, 0xff, 0x0a]));
  reader.feed(Buffer.alloc(100_000, "x"));
  reader.feed(Buffer.from("\nshow\n"));
  t.deepEqual(lines, ["one", "two", "three", "grün", undefined, undefined, undefined, "show"]);
});
