// What is stored of an update, and what a start makes of it that finds something else.
import test from "ava";
import {
  readRecord,
  STATES,
  type State,
  type UpdateRecord,
  writeRecord,
} from "../../../../src/agent/firmware/update-journal.js";
import { fakeHost } from "../../../fakes/host.js";

const RECORD: UpdateRecord = {
  state: "downloading",
  key: "k",
  title: "lamp",
  version: "2",
  from: "1",
  offset: 8192,
  failures: 1,
  spared: 2,
  condemned: true,
  error: "wrong checksum",
  size: 9000,
  checksum: "ab",
  etag: '"e"',
  at: 1e12,
};

/** What a start finds where `change` was stored. */
function found(change: object): UpdateRecord | undefined {
  const host = fakeHost();
  writeRecord(host, { ...RECORD, ...change });
  return readRecord(host);
}

test("a record comes back as it was stored, in every state", (t) => {
  for (const state of Object.keys(STATES) as State[]) t.deepEqual(found({ state }), { ...RECORD, state });
});

test("a record without its state, or of which nobody could know what it belongs to, is none", (t) => {
  for (const name of ["state", "key", "title", "version"])
    for (const value of [undefined, null, 1, {}, []])
      t.is(found({ [name]: value }), undefined, `${name} ${value}`);
  for (const state of ["", "DOWNLOADING", "toString", "__proto__"]) t.is(found({ state }), undefined, state);
  t.is(readRecord(fakeHost()), undefined);
});

test("a count that is none is 0, and a text that is none is empty", (t) => {
  for (const name of ["offset", "failures", "spared", "size", "at"])
    for (const value of [undefined, null, -1, 1.5, Number.NaN, "7", [], true])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: 0 }, `${name} ${value}`);
  for (const name of ["from", "error", "checksum", "etag"])
    for (const value of [undefined, null, 7, [], {}])
      t.deepEqual(found({ [name]: value }), { ...RECORD, [name]: "" }, `${name} ${value}`);
  for (const value of [undefined, null, 1, "true"])
    t.deepEqual(found({ condemned: value }), { ...RECORD, condemned: false }, `${value}`);
});
