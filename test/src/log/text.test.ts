// What a line may show: no secret in any of its forms, nothing that moves a cursor, and no half of a letter.
import test from "ava";
import fc from "fast-check";
import { LONGEST } from "../../../src/log/ring.js";
import { escaped, fitting, Secrets } from "../../../src/log/text.js";
import { fakeHost } from "../../fakes/host.js";

const host = fakeHost();

test("a line that holds a secret is left out as a whole, in whatever form it holds it", (t) => {
  const secrets = new Secrets();
  for (const secret of ['say "friend"\\', "aaaaaaaa", "online now", "pass word&more", "*", "schlüssel-ß"])
    secrets.add(secret);
  // "***" shows the one that is a star.
  for (const line of [
    'the answer was {"password":"say \\"friend\\"\\\\"}',
    'say "friend"\\',
    "GET /claim?x=pass%20word%26more",
    "aaaaaaaaaaaaaa",
    "it is online now, at last",
    "reason: schl%C3%BCssel-%C3%9F",
    "cut in the middle: pass word&mo",
  ])
    t.is(secrets.clean(line), "(-)", line);
  t.is(secrets.clean("it is on"), "it is on");
  t.is(secrets.clean("a*b"), "a*b");
  t.is(secrets.clean("say *"), "(-)");
});

test("of any secret and any line around it nothing is shown", (t) => {
  const text = fc.string({ unit: "grapheme", maxLength: 80 });
  t.notThrows(() =>
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme", minLength: 4, maxLength: 64 }),
        text,
        text,
        (secret, one, other) => {
          const secrets = new Secrets();
          secrets.add(secret);
          const forms = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
          return forms.every((form) => {
            const clean = escaped(secrets.clean(one + form + other));
            return clean === "***" || clean === "(-)";
          });
        },
      ),
      { numRuns: 1000 },
    ),
  );
});

test("secrets of one letter to three count where they stand alone, as they are in every line", (t) => {
  const secrets = new Secrets();
  secrets.add("on");
  t.is(secrets.clean("online"), "online");
  t.is(secrets.clean("the light is on"), "***");
  t.is(secrets.clean("on: it is"), "***");
});

test("more secrets than are kept in mind: the device's own, which came first, and the latest", (t) => {
  const secrets = new Secrets();
  for (let n = 0; n < 100; n++) secrets.add(`secret number ${n}!`);
  for (const n of [0, 7, 99, 80]) t.is(secrets.clean(`secret number ${n}!`), "***", String(n));
  t.false(JSON.stringify(secrets).includes("secret"));
});

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
