// Short ASCII texts, read where they lie.
import test from "ava";
import { decimal, find, hexDigit, isText, skipBlanks, trimBlanks, word } from "../../../src/http/bytes.js";

const of = (text: string) => new Uint8Array(Buffer.from(text, "latin1"));
const ASCII = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code));

test("a word is found whatever the case of its letters, and no other byte has a case", (t) => {
  for (const one of ASCII)
    for (const other of ASCII) {
      const wanted = other.toLowerCase();
      const bytes = of(`x${one}x`);
      t.is(
        isText(bytes, 1, 2, word(wanted)),
        one === wanted || one.toLowerCase() === wanted,
        `${one} ${wanted}`,
      );
    }
  t.true(isText(of("--Keep-ALIVE--"), 2, 12, word("keep-alive")));
  for (const [from, to] of [
    [2, 11],
    [3, 12],
    [2, 13],
  ] as const)
    t.false(isText(of("--keep-alive--"), from, to, word("keep-alive")));
});

test("a byte is found where it is first, and not beyond the range", (t) => {
  const bytes = of("ab:cd:e");
  t.deepEqual([find(bytes, 0, 7, 0x3a), find(bytes, 2, 7, 0x3a), find(bytes, 3, 7, 0x3a)], [2, 2, 5]);
  t.deepEqual([find(bytes, 3, 5, 0x3a), find(bytes, 6, 7, 0x3a), find(bytes, 4, 4, 0x3a)], [5, 7, 4]);
});

test("blanks are spaces and tabs, and none are looked for beyond the range", (t) => {
  const bytes = of("  \t x \t  ");
  t.deepEqual([skipBlanks(bytes, 1, 10), skipBlanks(bytes, 4, 10), skipBlanks(bytes, 0, 2)], [4, 4, 2]);
  t.deepEqual([trimBlanks(bytes, 0, 9), trimBlanks(bytes, 0, 5), trimBlanks(bytes, 7, 9)], [5, 5, 7]);
  t.is(skipBlanks(of("\n\v\0x"), 0, 4), 0);
});

test("a decimal number has 1 to 15 digits and nothing else", (t) => {
  for (const [text, value] of [
    ["0", 0],
    ["9", 9],
    ["0042", 42],
    ["999999999999999", 999_999_999_999_999],
    ["1000000000000000", -1],
    ["", -1],
    ["/", -1],
    [":", -1],
    ["1a", -1],
    [" 1", -1],
    ["-1", -1],
  ] as const)
    t.is(decimal(of(text), 0, text.length), value, text);
  t.is(decimal(of("12345"), 1, 3), 23);
  t.is(decimal(of("12345"), 3, 3), -1);
});

test("a hexadecimal digit has its value, and no other byte has one", (t) => {
  for (let byte = 0; byte < 256; byte++) {
    const digit = String.fromCharCode(byte);
    t.is(hexDigit(byte), /^[0-9a-fA-F]$/.test(digit) ? Number.parseInt(digit, 16) : -1, digit);
  }
});
