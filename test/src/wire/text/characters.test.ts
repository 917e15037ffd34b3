// What is read character by character takes and refuses what a regular expression would.
import test from "ava";
import fc from "fast-check";
import { compareVersions } from "../../../../src/agent/firmware/admission.js";
import { hostOf, isLoopback, parseTarget, type Target } from "../../../../src/http/target.js";
import { checkKey, isPlainKey } from "../../../../src/wire/keys.js";
import { checkToken } from "../../../../src/wire/paths.js";
import * as characters from "../../../../src/wire/text/characters.js";

const CONTROL = "\\u0000-\\u001f\\u007f";
const RUNS = { numRuns: 3000 };

/** Texts of these signs alone: most of them come close to what is looked for. */
const textsOf = (signs: string): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...signs), { maxLength: 14 }).map((all) => all.join(""));

/** fast-check prints the seed of a run that fails. */
const agrees = (texts: fc.Arbitrary<string>, ours: (text: string) => boolean, theirs: RegExp): void =>
  fc.assert(
    fc.property(texts, (text) => ours(text) === theirs.test(text)),
    RUNS,
  );

test("a span ends before the first character that is in no range", (t) => {
  t.is(characters.spanOf("", "09"), 0);
  t.is(characters.spanOf("129", "09"), 3);
  t.is(characters.spanOf("12-3", "09"), 2);
  t.is(characters.spanOf("/0:", "09"), 0);
  t.is(characters.spanOf("a\u{1f600}b", "az"), 1);
});

test("a text is made of ranges if it has a character, none beside them, and not too many", (t) => {
  t.false(characters.isMadeOf("", "az"));
  t.true(characters.isMadeOf("az09", "az09"));
  t.true(characters.isMadeOf("abc", "az", 3));
  t.false(characters.isMadeOf("abcd", "az", 3));
  t.false(characters.isMadeOf("ab\n", "az"));
  t.notThrows(() =>
    agrees(textsOf("09afAFgG/:@`"), (text) => characters.isMadeOf(text, characters.HEX), /^[0-9a-f]+$/i),
  );
});

test("control characters are found, and letters of ASCII change their case", (t) => {
  t.notThrows(() => {
    agrees(fc.string({ unit: "binary" }), characters.hasControl, new RegExp(`[${CONTROL}]`));
    agrees(textsOf("\u0000\u001f \u007f~\u0080"), characters.hasControl, new RegExp(`[${CONTROL}]`));
  });
  t.is(characters.lowerCase("@AZ[Ä\u{1f600}az"), "@az[Ä\u{1f600}az");
  t.is(characters.upperCase("`az{ß\u{1f600}AZ"), "`AZ{ß\u{1f600}AZ");
});

test("blanks and line ends go", (t) => {
  t.is(characters.withoutBlanks(" a\r\nb\t c\u00a0\n"), "abc");
  t.is(characters.withoutBlanks("abc"), "abc");
});

test("keys and tokens are judged as they were", (t) => {
  const texts = fc.oneof(textsOf("aZ_-.,<>{\u007f\t é"), fc.string({ unit: "grapheme" }));
  t.notThrows(() => {
    agrees(texts, isPlainKey, /^[\w.-]{1,100}$/);
    agrees(texts, (key) => checkKey(key) !== undefined, new RegExp(`[,<>${CONTROL}]|\\{\\{|^\\s*$`));
    const tokens = fc.oneof(textsOf("aZ/\\;%. \u007f\u00a0"), fc.constantFrom(".", "..", "..."));
    const isRefused = (token: string) => token !== "" && checkToken(token) !== undefined;
    agrees(tokens, isRefused, new RegExp(`[/\\\\;%${CONTROL}]|^\\s|\\s$|^\\.\\.?$`));
  });
  t.true(isPlainKey("a".repeat(100)));
  t.false(isPlainKey("a".repeat(101)));
});

test("addresses and versions are read as they were", (t) => {
  t.notThrows(() => {
    agrees(
      fc.oneof(
        textsOf("az09.-_:[]"),
        textsOf("[:1f]").map((text) => `[${text}`),
        textsOf("a:0"),
      ),
      (text) => hostOf(text) !== undefined,
      /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::([0-9]{1,5}))?$/,
    );
    agrees(
      textsOf("/a%0Fg;=~").map((text) => `/${text}`),
      (path) => parseTarget(`https://a${path}`).ok,
      /^(?:\/(?:[a-z0-9._~!$&'()*+,=:@-]|%[0-9a-f]{2})+)*\/*$/i,
    );
    const names = fc.oneof(
      textsOf("0127."),
      textsOf("01:2").map((text) => `0:0:0:0:0:${text}`),
      fc.constantFrom(
        "localhost",
        ".localhost",
        "a.localhost",
        "127.0.0.1",
        "::1",
        "127.1.22.333",
        "127.0.0",
      ),
    );
    const isHere = (name: string) => isLoopback({ name } as Target);
    agrees(names, isHere, /^(?:localhost|.+\.localhost|127(?:\.[0-9]{1,3}){3}|::1|(?:0{1,4}:){7}0{0,3}1)$/);
    const versions = fc.oneof(
      textsOf("v012.-+a"),
      textsOf("1.").map((text) => `v1.2.3.4.5${text}`),
    );
    const isVersion = (text: string) => compareVersions(text, text) !== undefined;
    agrees(versions, isVersion, /^v?(\d{1,9}(?:\.\d{1,9}){0,7})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?$/);
  });
});
