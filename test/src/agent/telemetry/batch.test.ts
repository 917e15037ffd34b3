// The body of a request, byte for byte.
import test from "ava";
import { roomOf } from "../../../../src/agent/queue/outbox.js";
import { BatchWriter } from "../../../../src/agent/telemetry/batch.js";
import { HEAD_ROOM } from "../../../../src/platform/requests.js";
import { at as stamp } from "../../../fakes/time.js";

const AT = 100;
const TS = 1_700_000_000_998;

function writer(limit: number, apart = false): { writer: BatchWriter; memory: Uint8Array } {
  const memory = new Uint8Array(AT + roomOf(limit) + 50).fill(0x2e);
  return { writer: new BatchWriter(memory, AT, limit, apart), memory };
}

/** Adds the points that fit, from bytes of their own or from those that the body lies in. */
function bodyOf(texts: readonly string[], ts: number | undefined, limit = 1000, within = false): string {
  const { writer: into, memory } = writer(limit);
  into.begin();
  for (const [index, text] of texts.entries()) {
    const bytes = Buffer.from(text);
    const from = within ? memory : Buffer.concat([Buffer.from("..."), bytes]);
    const at = within ? 7 : 3;
    if (within) memory.set(bytes, at);
    if (!into.add(from, at, at + bytes.length, ts === undefined ? undefined : stamp(ts + index))) break;
  }
  const body = into.body();
  const end = AT + roomOf(limit);
  if (memory.subarray(end).some((byte) => byte !== 0x2e)) throw new Error("it wrote beyond its end");
  if (body.byteOffset - HEAD_ROOM < AT) throw new Error("there is no room before the body");
  return Buffer.from(body).toString();
}

for (const within of [false, true]) {
  const where = within ? "within the bytes of the body" : "in bytes of their own";
  test(`points ${where} leave as an object or an array of objects`, (t) => {
    t.is(bodyOf(['{"a":1}'], TS, 1000, within), `{"ts":${TS},"values":{"a":1}}`);
    t.is(
      bodyOf(['{"a":1}', '{"b":"ü"}', '{"c":3}'], TS, 1000, within),
      `[{"ts":${TS},"values":{"a":1}},{"ts":${TS + 1},"values":{"b":"ü"}},{"ts":${TS + 2},"values":{"c":3}}]`,
    );
    t.is(bodyOf(['{"a":1}'], undefined, 1000, within), '{"a":1}');
    t.is(bodyOf(['{"a":1}', '{"b":2}'], undefined, 1000, within), '[{"a":1},{"b":2}]');
  });
}

test("a body is as long as its limit at most, and so long if its points are", (t) => {
  const texts = Array.from({ length: 40 }, (_, i) => `{"a":${100 + i}}`);
  for (const ts of [undefined, TS]) {
    const one = ts === undefined ? '{"a":100},'.length : `{"ts":${TS},"values":{"a":100}},`.length;
    for (const points of [2, 7, 20]) {
      const exact = 1 + points * one;
      t.is(JSON.parse(bodyOf(texts, ts, exact)).length, points);
      t.is(bodyOf(texts, ts, exact).length, exact);
      t.is([JSON.parse(bodyOf(texts, ts, exact - 1))].flat().length, points - 1);
    }
  }
});

test("of one point some keys leave, as an object with the same time stamp", (t) => {
  const { writer: into } = writer(1000);
  const text = Buffer.from('{"a":1,"b":{"c":[1,2]},"d":"x,y"}');
  const cut = (from: number, most: number, ts: number | undefined): string => {
    into.cut(text, 0, text.length, ts === undefined ? undefined : stamp(ts), from, most);
    return Buffer.from(into.body()).toString();
  };
  t.is(cut(0, 1, TS), `{"ts":${TS},"values":{"a":1}}`);
  t.is(cut(1, 2, TS + 1), `{"ts":${TS + 1},"values":{"b":{"c":[1,2]},"d":"x,y"}}`);
  t.is(cut(1, 1, undefined), '{"b":{"c":[1,2]}}');
  t.is(cut(0, 9, undefined), '{"a":1,"b":{"c":[1,2]},"d":"x,y"}');
});
