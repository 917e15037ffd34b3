// What the application hands in, and names and addresses: read on the way out.
import type { Digest } from "../../src/port.js";
import { attributesQuery, splitKeys } from "../../src/wire/attributes.js";
import { encodeClaim } from "../../src/wire/claim.js";
import { isChecksum, openDigest, sameChecksum, toAlgorithm } from "../../src/wire/crypto/checksum.js";
import { toHex } from "../../src/wire/crypto/hex.js";
import { checkKey } from "../../src/wire/keys.js";
import { checkToken, devicePrefix, escapeText, firmwarePath } from "../../src/wire/paths.js";
import { encodeProvision } from "../../src/wire/provision.js";
import { encodeAnswer, encodeCall, encodeError } from "../../src/wire/rpc.js";
import { encodePoint } from "../../src/wire/telemetry.js";
import { encodeJson } from "../../src/wire/text/encode.js";
import { parseJson } from "../../src/wire/text/json.js";
import { numberText } from "../../src/wire/text/numbers.js";
import { fits, mend, quote, utf8Length } from "../../src/wire/text/text.js";
import { secretOf } from "../fakes/secret.js";
import { must, ofText, type Parser, whole } from "./parser.js";

const LIMIT = 4096;
const VALUES = [
  '{"temperature":21.5,"count":42,"open":true,"mode":"auto","limits":{"low":1,"high":[2,null]}}',
  '{"ts":1700000000000,"values":{"a":1}}',
  '{"a b":0.1,"grün":"😀","big":1e21,"tiny":1e-20,"long":9007199254740993,"neg":-0}',
  '{"nested":[[[{"x":[]}]]],"text":"line\\nquote\\" back\\\\slash","lone":"\\ud800"}',
];
const NAMES = [
  "interval",
  "fw_title,fw_version",
  "A1b2C3d4",
  "a/b;c%25\\",
  "grün 😀",
  " x ",
  "..",
  "{{a}}<b>",
];

/** No half of a surrogate pair stands alone. */
const isUtf8 = (text: string): boolean => !/\p{Surrogate}/u.test(text);

function valueIn(text: string): unknown {
  const parsed = parseJson(text, 1000);
  return parsed.ok ? parsed.value : text;
}

/** What leaves is JSON and UTF-8, and no larger than allowed. */
function readValues(text: string): unknown {
  const value = valueIn(text);
  const secret = secretOf(text);
  const all = [
    encodePoint(value, LIMIT),
    encodeJson(value, "free", LIMIT),
    encodeJson(value, "stored", LIMIT),
    encodeAnswer(value, LIMIT),
    encodeCall(text, value, LIMIT),
    encodeClaim({ secretKey: text, durationMs: 1 + text.length }),
    { ok: true, text: encodeError("HANDLER_FAILED", text) },
    { ok: true, text: encodeProvision({ key: secret, secret, deviceName: text, token: secret }) },
  ] as { ok: boolean; text: string; reason?: string }[];
  all.forEach((encoded, index) => {
    must(encoded.ok || typeof encoded.reason === "string", "a refusal has a reason");
    if (!encoded.ok) return;
    must(parseJson(encoded.text, 1000).ok, "what leaves is JSON");
    must(isUtf8(encoded.text), "what leaves is UTF-8");
    must(index > 2 || encoded.text.length <= LIMIT, "what leaves is within its limit");
    must(index !== 3 || Buffer.byteLength(encoded.text) <= LIMIT, "an answer is within its limit in bytes");
  });
  return all;
}

const ESCAPED = /\\u([0-9a-f]{4})/g;
/** U+FFFD for each half of a surrogate pair that stands alone, as Node writes it. */
const mended = (text: string): string => Buffer.from(text).toString();

/** `\uXXXX` stands for that code unit: so halves of surrogate pairs come in too. */
function readNames(escaped: string): unknown {
  const text = escaped.replace(ESCAPED, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  const keys = text.split(",");
  const query = attributesQuery({ clientKeys: keys.slice(0, 3), sharedKeys: keys });
  const path = firmwarePath(text, text, { size: 1, chunk: 1 });
  must(!query.ok || /^\?[!-~]+$/.test(query.query), "a query is escaped");
  must(/^[!-~]+$/.test(path) && /^[!-~]+$/.test(devicePrefix(secretOf(text)).reveal()), "a path is escaped");
  must(
    mend(text) === mended(text) && decodeURIComponent(escapeText(text)) === mended(text),
    "an escaped text is the same text",
  );
  must(JSON.parse(quote(text)) === mended(text), "a quoted text is the same text");
  must(utf8Length(text) === Buffer.byteLength(text), "a text's bytes are counted");
  must(fits(text, 100) === Buffer.byteLength(text) <= 100, "a text fits if its bytes do");
  must(splitKeys(keys, 64).flat().join() === keys.join(), "no key is lost by splitting");
  const token = checkToken(text);
  must(token === undefined || token.length < 200, "a reason does not show the token");
  if (token === undefined)
    must(
      !/%2f|%25|;|%5c/i.test(devicePrefix(secretOf(text)).reveal()),
      "a token passes the platform's address check",
    );
  return [query, checkKey(text), token];
}

function readNumber(text: string): unknown {
  const bytes = Buffer.alloc(8);
  bytes.write(text.slice(0, 8), "latin1");
  for (const value of [Number(text), bytes.readDoubleLE(), bytes.readInt32LE() / 1000]) {
    const written = numberText(value);
    if (written === undefined)
      must(!(Math.abs(value) < 2 ** 63), "a number that the platform takes is written");
    else {
      must(/^-?\d+(?:\.\d{1,15})?$/.test(written), "no exponent, 15 decimals at most");
      must(
        Math.abs(Number(written) - value) <= Math.max(1e-15, Math.abs(value) * 1e-14),
        "a number is itself",
      );
    }
  }
  return numberText(Number(text));
}

const ALGORITHMS = ["CRC32", "MURMUR3_32", "MURMUR3_128"] as const;

/** Digests: the same however the bytes are cut, and a checksum of the length that the algorithm has. */
const DIGESTS: Parser = {
  name: "checksum",
  documents: ["", "hello", "123456789", "x".repeat(100)].map((text) => Buffer.from(text)),
  incremental: true,
  read: (pieces) => {
    const found = ALGORITHMS.map((algorithm) => {
      const digest = openDigest(algorithm, () => undefined) as Digest;
      for (const piece of pieces) digest.write(piece);
      const hex = toHex(digest.close());
      must(isChecksum(algorithm, hex) && sameChecksum(hex, hex.toUpperCase()), "a digest is a checksum");
      return hex;
    });
    const name = Buffer.from(whole(pieces)).toString();
    return [found, toAlgorithm(name), isChecksum("CRC32", name)];
  },
};

export const VALUE_PARSERS: readonly Parser[] = [
  ofText("values", VALUES, readValues),
  ofText("names", NAMES, readNames),
  ofText(
    "numbers",
    ["0", "21.5", "-1e-7", "9223372036854775807", "123456789012345678", "0.30000000000000004"],
    readNumber,
  ),
  DIGESTS,
];
