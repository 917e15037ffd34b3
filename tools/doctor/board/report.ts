// A report for a public issue: without secrets, names, addresses and hardware ids.
import { SecretRedactor } from "../../../src/wire/text/redactor.js";
import type { Finding } from "../finding.js";

export interface Reported {
  /** What is said about the machine and its tools: name and value. */
  readonly about: readonly (readonly [name: string, value: string])[];
  readonly findings: readonly Finding[];
  /** What the board printed. */
  readonly lines: readonly string[];
}

/** Lines of the serial log that are kept: the newest. */
const LINES = 300;

/** MAC, in pairs or as a hardware id; IPv4; the host of a URL; e-mail. */
const PRIVATE: readonly (readonly [RegExp, string])[] = [
  [/\b(?:[0-9a-f]{2}[:-]){5,7}[0-9a-f]{2}\b/gi, "(mac)"],
  [/\bmote-[0-9a-f]{12}\b/gi, "mote-(id)"],
  [/\b[0-9a-f]{12}\b/gi, "(id)"],
  [/[\w.+-]+@[\w-]+\.[\w.-]+/g, "(address)"],
  [/\b(https?:\/\/)[^/\s"'<>)]+/gi, "$1(platform)"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, "(ip)"],
];

/** `secrets`: what must not show in any form. `names`: of the device, the user, the network. */
export function boardReport(
  { about, findings, lines }: Reported,
  secrets: readonly string[],
  names: readonly string[],
): string {
  const encoder = new TextEncoder();
  const redactor = new SecretRedactor({ encode: (text) => encoder.encode(text) });
  for (const secret of secrets) redactor.pin(secret);
  const clean = (text: string): string => {
    let shown = redactor.clean(text);
    for (const name of names) if (name !== "") shown = shown.replaceAll(name, "(name)");
    for (const [pattern, instead] of PRIVATE) shown = shown.replace(pattern, instead);
    return shown;
  };
  const cell = (text: string): string => clean(text).replaceAll("|", "\\|").replaceAll("\n", " ");
  const rows = findings.map(
    ({ level, what, text, advice }) =>
      `| ${cell(what)} | ${level} | ${cell(text)}${advice && level !== "good" ? `. ${cell(advice)}` : ""} |`,
  );
  const kept = lines.slice(-LINES);
  return [
    "# Checks of a board",
    "",
    ...about.map(([name, value]) => `- ${name}: ${clean(value)}`),
    "",
    "| check | result | seen |",
    "|---|---|---|",
    ...rows,
    "",
    `## What the board printed (${kept.length} of ${lines.length} lines)`,
    "",
    "```text",
    ...kept.map((line) => clean(line).replaceAll("```", "'''")),
    "```",
    "",
  ].join("\n");
}
