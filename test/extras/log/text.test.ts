// What a line may show: nothing that moves a cursor, and no half of a letter.
import test from "ava";
import fc from "fast-check";
import { LONGEST } from "../../../extras/log/ring.js";
import { escaped, fitting } from "../../../extras/log/text.js";
import { fakeHost } from "../../fakes/host.js";

const host = fakeHost();

test("control characters are written out, whatever they are", (t) => {
  t.is(
    escaped("a\u001b[2Jb\nc\rd\u009be\u202ef\u2028g\u0000"),
    "a\\x1b[2Jb\\nc\\x0dd\\x9be\\u202ef\\u2028g\\x00",
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.string({ unit: "binary" }),
        (line) => !/[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u.test(escaped(line)),
      ),
    ),
  );
});

test("a line is cut between two letters", (t) => {
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.string({ unit: "grapheme", minLength: 50, maxLength: 400 }), (line) => {
        const bytes = fitting(host, line);
        const text = host.decode(bytes);
        const whole = host.encode(line);
        return (
          text !== undefined &&
          line.startsWith(text) &&
          bytes.length <= LONGEST &&
          (bytes.length === whole.length || bytes.length > LONGEST - 4)
        );
      }),
    ),
  );
});
