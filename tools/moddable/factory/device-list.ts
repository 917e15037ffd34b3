// Reads devices.csv: one device per row. Errors quote no value: it may be a secret.
import Papa from "papaparse";
import { checkLabel, checkValues, type Values } from "../../../extras/commissioning/values.js";
import { SdkError } from "../sdk.js";

export const COLUMNS = ["name", "label", "url", "token", "key", "secret", "ssid", "password"] as const;
type Column = (typeof COLUMNS)[number];

export interface FactoryDevice {
  /** At the platform, and of its files. */
  readonly name: string;
  /** Of its own access point, as on its label. */
  readonly label: string | undefined;
  /** What its owner would give at commissioning; empty members are left to him. */
  readonly values: Values;
}

/** For files and for a platform alike. */
const NAME = /^[A-Za-z0-9][\w.-]{0,62}$/;
/** Columns in which a blank at the beginning or end may be meant. */
const EXACT = new Set(["label", "ssid", "password"]);
const MOST = 10_000;
/** As ESP-IDF's access point has it. */
const SHOWN = 20;

/** All devices. Throws SdkError with all that is wrong, by row and column. */
export function readDevices(text: string): FactoryDevice[] {
  const { data, errors } = Papa.parse<string[]>(text.replace(/^\ufeff/, ""), {
    skipEmptyLines: "greedy",
    delimiter: ",",
  });
  const [first = [], ...rows] = data;
  const head = first.map((name) => name.trim());
  const wrong = [
    ...errors.map(({ row, message }) => `row ${(row ?? 0) + 1}: ${message}`),
    ...checkHead(head),
  ];
  if (wrong.length === 0 && rows.length === 0) wrong.push("the list has no devices");
  if (rows.length > MOST) wrong.push(`the list has ${rows.length} devices, at most ${MOST} are allowed`);
  if (wrong.length > 0) throw refusal(wrong);
  const devices = rows.map((row) => deviceOf(head as Column[], row));
  rows.forEach((row, index) => {
    const at = `row ${index + 2}`;
    if (row.length > head.length) wrong.push(`${at}: more fields than columns`);
    for (const one of problemsOf(devices[index]!)) wrong.push(`${at}: ${one}`);
  });
  for (const [what, of] of [
    ["name", ({ name }: FactoryDevice) => name.toLowerCase()],
    ["token", ({ values }: FactoryDevice) => values.token],
  ] as const)
    wrong.push(
      ...repeated(devices.map(of)).map((index) => `row ${index + 2}: another row has the same ${what}`),
    );
  if (wrong.length > 0) throw refusal(wrong);
  return devices;
}

function checkHead(head: readonly string[]): string[] {
  const unknown = head.filter((name) => !COLUMNS.includes(name as Column));
  return [
    ...(unknown.length > 0 ? [`unknown columns in the first row (expected: ${COLUMNS.join(", ")})`] : []),
    ...(new Set(head).size < head.length ? ["a column occurs twice in the first row"] : []),
    ...(head.includes("name") ? [] : ['the first row lacks the column "name"']),
  ];
}

function deviceOf(head: readonly Column[], row: readonly string[]): FactoryDevice {
  const cells = Object.fromEntries(head.map((name, index) => [name, cellOf(name, row[index])]));
  const { name = "", label, ...values } = cells as Partial<Record<Column, string>>;
  return { name, label, values };
}

/**
 * Blanks around a cell are not part of it, but they could be part of a Wi-Fi's name or password.
 */
function cellOf(column: string, cell = ""): string | undefined {
  const trimmed = cell.trim();
  return (trimmed && EXACT.has(column) ? cell : trimmed) || undefined;
}

function problemsOf({ name, label, values }: FactoryDevice): string[] {
  const { url, token, key, secret, ssid, password } = values;
  const found: string[] = [];
  for (const [field, value] of Object.entries({ label, ssid, password }))
    if (value !== value?.trim()) found.push(`${field}: remove the blank at its beginning or end`);
  if (!NAME.test(name)) found.push("name: 1 to 63 letters, digits, dots, dashes or underscores");
  const wrongLabel = label === undefined ? undefined : checkLabel(label);
  if (wrongLabel) found.push(`label: ${wrongLabel.reason}`);
  if (token !== undefined && url === undefined)
    found.push("token: requires url, because a device sends a token only to its own platform");
  const isGiven = { url: url !== undefined, token: token !== undefined, key: (key ?? secret) !== undefined };
  for (const { field, reason } of checkValues(values, (ssid ?? password) !== undefined)) {
    const isLeft = (field === "url" && !isGiven.url) || (field === "token" && !isGiven.token && !isGiven.key);
    if (!isLeft) found.push(`${field}: ${reason}`);
  }
  return found;
}

/** Where a value stands that another one before it has. */
function repeated(values: readonly (string | undefined)[]): number[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    if (value === undefined) return [];
    if (seen.has(value)) return [index];
    seen.add(value);
    return [];
  });
}

function refusal(wrong: readonly string[]): SdkError {
  const more = wrong.length - SHOWN;
  const lines = [...wrong.slice(0, SHOWN), ...(more > 0 ? [`and ${more} more`] : [])];
  return new SdkError(`invalid list of devices:\n${lines.map((line) => `  ${line}`).join("\n")}`);
}
