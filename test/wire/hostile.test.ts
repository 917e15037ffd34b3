import test from "ava";
import { parseAttributes, parseNotification } from "../../src/wire/attributes.js";
import { parseAssignment } from "../../src/wire/firmware.js";
import { isObject, parseJson } from "../../src/wire/json.js";
import { parseProvision } from "../../src/wire/provision.js";
import { parseCallAnswer, parseRpcRequest } from "../../src/wire/rpc.js";
import { decodeStart } from "../../src/wire/text.js";
import { allFixtures, numbersOf } from "./support.js";

const PIECES = [
  '"',
  "\\",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "null",
  "-",
  "1e999",
  "\\u005f",
  "__proto__",
  "\u0000",
  "😀",
  "\ud800",
  '"id":',
  "NaN",
];

function mutate(text: string, below: (limit: number) => number): string {
  let mutated = text;
  for (let changes = 1 + below(4); changes > 0; changes--) {
    const at = below(mutated.length + 1);
    const until = Math.min(mutated.length, at + below(6));
    const piece =
      below(3) === 0 ? mutated.slice(below(mutated.length + 1)) : (PIECES[below(PIECES.length)] ?? "");
    mutated = mutated.slice(0, at) + piece.slice(0, 200) + mutated.slice(until);
  }
  return mutated;
}

function readAll(text: string): void {
  const parsed = parseJson(text);
  parseAttributes(text);
  parseNotification(text);
  parseProvision(text);
  parseCallAnswer(text);
  parseRpcRequest(text, true);
  parseRpcRequest(text, false);
  if (parsed.ok && isObject(parsed.value)) parseAssignment(parsed.value);
  decodeStart(Buffer.from(text, "latin1"));
}

test("20,000 documents with random damage are read without an exception and leave no trace", (t) => {
  const documents = allFixtures();
  const seed = Number(process.env.MOTE_SEED ?? Math.floor(Math.random() * 2 ** 32));
  const below = numbersOf(seed);
  const names = Object.getOwnPropertyNames(Object.prototype).join();
  for (let i = 0; i < 20_000; i++) {
    const text = mutate(documents[below(documents.length)] ?? "", below);
    try {
      readAll(text);
    } catch (error) {
      t.fail(`MOTE_SEED=${seed}, document ${i}, ${JSON.stringify(text)}: ${error}`);
      return;
    }
  }
  t.is(Object.getOwnPropertyNames(Object.prototype).join(), names);
});

test("a damaged request is never read with an id that stands elsewhere in it", (t) => {
  for (const text of [
    '{"params":{"id":5,"method":"x"',
    '{"a":"\\"id\\":5',
    '[{"id":5,"method":"x"}',
    '{"id":{"id":5},"method":"x"',
  ]) {
    t.false(parseRpcRequest(text, false).ok, text);
  }
});
