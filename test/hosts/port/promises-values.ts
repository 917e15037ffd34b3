import type { Host } from "../../../src/port.js";
import { crc32 } from "../../../src/wire/crypto/crc32.js";
import { check, same, sameBytes } from "./check.js";
import type { Promised } from "./promised.js";

const HEX = "0123456789abcdef";

function hex(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX.charAt(byte >> 4) + HEX.charAt(byte & 15);
  return text;
}

/** In two pieces: the text's first byte, and the rest. */
function digestOf(host: Host, algorithm: string, text: string): string | undefined {
  const digest = host.digest(algorithm);
  if (!digest) return undefined;
  const bytes = host.encode(text);
  digest.write(bytes.subarray(0, 1));
  digest.write(bytes.subarray(1));
  return hex(digest.close());
}

// RFC 1321 and FIPS 180-2.
const VECTORS: readonly (readonly [string, string, string])[] = [
  ["MD5", "", "d41d8cd98f00b204e9800998ecf8427e"],
  ["MD5", "abc", "900150983cd24fb0d6963f7d28e17f72"],
  ["SHA256", "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["SHA256", "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
  [
    "SHA384",
    "abc",
    "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7",
  ],
  [
    "SHA512",
    "abc",
    "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
  ],
];

const TEXTS = [
  "",
  "plain",
  "Grüße",
  "температура",
  "温度",
  "🌡️ 21.5 °C",
  "\u0000\u007f\u0080\ufeff",
  "\ufeffmark first",
];

// Overlong, cut, lone continuation, surrogate, beyond U+10FFFF, never a byte of UTF-8.
const NO_TEXT = [
  [0xc0, 0x80],
  [0xe2, 0x82],
  [0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0x61, 0xff],
];

export const valuePromises: readonly Promised[] = [
  {
    title: "digest: the published vectors in pieces and side by side, for each algorithm that the host has",
    run(host) {
      check(host.digest("SHA256") !== undefined, "no SHA256");
      for (const [algorithm, text, expected] of VECTORS) {
        const found = digestOf(host, algorithm, text);
        if (found !== undefined) same(found, expected, `${algorithm} of "${text}"`);
      }
      const [one, two] = [host.digest("SHA256"), host.digest("SHA256")];
      one?.write(host.encode("a"));
      two?.write(host.encode("abc"));
      one?.write(host.encode("bc"));
      same(one && hex(one.close()), two && hex(two.close()), "two at a time");
      for (const name of ["SHA3", "", "sha256", "__proto__", "constructor"])
        same(host.digest(name), undefined, name);
    },
  },
  {
    title: "text: encodes to UTF-8 and back, also a part of a buffer",
    run(host) {
      same(host.decode(host.encode("abcdef").subarray(2, 4)), "cd", "part");
      for (const text of TEXTS) same(host.decode(host.encode(text)), text, "text");
      sameBytes(
        host.encode("é€𐍈"),
        Uint8Array.of(0xc3, 0xa9, 0xe2, 0x82, 0xac, 0xf0, 0x90, 0x8d, 0x88),
        "bytes",
      );
    },
  },
  {
    title: "text: bytes that are no UTF-8 are no text",
    run(host) {
      for (const bytes of NO_TEXT)
        same(host.decode(Uint8Array.from(bytes)), undefined, `bytes ${bytes.join(" ")}`);
    },
  },
  {
    title: "loops, if the host has them: as in JavaScript, also in a part of a buffer",
    run({ loops }) {
      if (!loops) return;
      const bytes = Uint8Array.from({ length: 200 }, (_, i) => (i * 7) & 0xff).subarray(3, 180);
      for (const part of [bytes, bytes.subarray(0, 1), bytes.subarray(5, 5)])
        same(loops.crc32(part, 0, part.length), crc32(part), `CRC of ${part.length} bytes`);
      same(loops.crc32(bytes, 7, 90), crc32(bytes, 7, 90), "CRC of a part");
      const digits = Uint8Array.from([..."123456789"].map((digit) => 0x30 + Number(digit)));
      same(loops.crc32(digits, 0, 9), 0xcbf43926, "CRC");
      const blank = new Uint8Array(70).fill(0xff).subarray(1, 65);
      check(loops.isErased(blank, 0) && loops.isErased(blank, 64), "erased");
      blank[63] = 0xfe;
      check(!loops.isErased(blank, 0) && !loops.isErased(blank, 63), "the last byte");
      blank.fill(0xff)[2] = 0;
      check(!loops.isErased(blank, 2) && loops.isErased(blank, 3), "from");
    },
  },
  {
    title: "random: fills all of it, and never twice the same",
    run(host) {
      const [one, two] = [new Uint8Array(64), new Uint8Array(64)];
      host.random(one);
      host.random(two);
      check(hex(one) !== hex(two), "twice the same");
      check(new Set(one).size > 16, "hardly any values");
      check(hex(one.subarray(48)) !== "00".repeat(16), "the end is left empty");
    },
  },
  {
    title: "hardware id: 1 to 32 letters, digits and hyphens, the same after a restart",
    needs: "restart",
    async run({ hardwareId }, tools) {
      check(/^[A-Za-z0-9-]{1,32}$/.test(hardwareId), hardwareId);
      same((await tools.restart()).hardwareId, hardwareId, "hardware id");
    },
  },
];
