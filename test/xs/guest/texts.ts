// What the portable part makes of a table of values, as texts: to be the same on XS and on Node.
import { crc32 } from "../../../src/wire/crypto/crc32.js";
import { escapeText } from "../../../src/wire/paths.js";
import { parseJson } from "../../../src/wire/text/json.js";
import { decodeStart, mend, quoteShortened, utf8Length } from "../../../src/wire/text/text.js";
import { encodeValues } from "../../../src/wire/values.js";

const STRINGS = [
  "",
  "plain",
  'quote " and \\ and / and \u0000\u001f\u007f',
  "Grüße, 温度, \u2028\u2029",
  "😀",
  "a😀b",
  "\ud83d",
  "\ude00",
  "\ude00\ud83d",
  `${"\ud83d"}${"\ude00"}`,
  "a\ud83db\ude00c",
  "\\ud83d",
  "x".repeat(50),
  "😀".repeat(50),
];

// biome-ignore format: a table
const NUMBERS = [
  0, -0, 1, -1, 0.1, 0.1 + 0.2, 1 / 3, -2 / 3, 21.5, 1e-7, 1.5e-7, 1e-15, 1e-16, 1e15, 1e20, 1e21, 123456789.12345679,
  2 ** 31, 2 ** 53 - 1, 2 ** 53, 2 ** 62, 2 ** 63, -(2 ** 63), Number.MAX_VALUE, Number.MIN_VALUE, Number.EPSILON,
  5e-324, Number.NaN, Number.POSITIVE_INFINITY, 999999.9999999999, 0.000001, 1.0000000000000002, 4.35, 2.675,
];

const DOCUMENTS = [
  '{"a":1,"b":[true,null,{"c":"😀"}]}',
  '{"__proto__":{"x":1},"constructor":2}',
  '{"a":1',
  "[1,2,]",
  '"\\ud83d\\ude00 \\u00e9"',
  "1e400",
  "-0",
  `${"[".repeat(40)}${"]".repeat(40)}`,
  "",
  "nul",
];

/**
 * 300 doubles below 2^53, always the same. Above, where two texts are as near, XS and Node choose
 * differently.
 */
function doubles(): number[] {
  let state = 12345;
  const next = (): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return state / 2 ** 32;
  };
  return Array.from({ length: 300 }, () => (next() - 0.5) * 10 ** Math.floor(next() * 36 - 20));
}

const written = (value: unknown): string => JSON.stringify(encodeValues({ value }));

function checksums(): string[] {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => (i * 131) & 0xff);
  return [0, 1, 999, 1000].map((length) => `${crc32(bytes, 0, length)}`);
}

/** Each text is safe to carry as UTF-8. */
export function texts(): string[] {
  return [
    ...STRINGS.flatMap((text) => [
      written(text),
      written([text, { [`${text}.`]: text }]),
      JSON.stringify(mend(text)),
      `${utf8Length(mend(text))}`,
      escapeText(text),
      JSON.stringify(quoteShortened(text)),
    ]),
    ...NUMBERS.map(written),
    ...doubles().map(written),
    ...[9223372036854775807n, -9223372036854775808n, 9223372036854775808n].map(written),
    ...[true, null, undefined, new Date(0), () => 1, [null, [1, "a"]], { a: { b: null } }].map(written),
    ...DOCUMENTS.map((text) => JSON.stringify(parseJson(text))),
    JSON.stringify(decodeStart(Uint8Array.of(0x61, 0xf0, 0x9f, 0x98, 0x80, 0xff, 0xed, 0xa0, 0x80, 0xc3))),
    ...checksums(),
  ];
}
