// The known shared attributes: a key that an answer lacks may be missing for a moment only.
import test from "ava";
import { SECOND_READ_MS, SharedAttributes } from "../../../../src/agent/attributes/shared-attributes.js";
import { Events } from "../../../../src/events.js";
import { fakeHost } from "../../../fakes/host.js";

const KEYS = ["interval", "limit"];

function known() {
  const host = fakeHost();
  const shared = new SharedAttributes(host, new Events(host));
  const seen: unknown[] = [];
  for (const key of KEYS) shared.subscribe(key, (value) => seen.push(value));
  const read = (values: Record<string, number>) => ({
    isPending: shared.applyRead(KEYS, values),
    told: seen.splice(0),
  });
  read({ interval: 5, limit: 1 });
  return { host, read };
}

test("removes an attribute that two reads lack, at least 2 s apart, and not after one", async (t) => {
  const { host, read } = known();
  t.deepEqual(read({ limit: 1 }), { isPending: true, told: [] });
  await host.clock.advance(SECOND_READ_MS - 1);
  t.deepEqual(read({ limit: 1 }), { isPending: true, told: [] });
  await host.clock.advance(1);
  t.deepEqual(read({ limit: 1 }), { isPending: false, told: [undefined] });
  t.deepEqual(read({ limit: 1 }), { isPending: false, told: [] });
});

test("an attribute that is back in between is missing for the first time again", async (t) => {
  const { host, read } = known();
  read({ limit: 1 });
  await host.clock.advance(SECOND_READ_MS);
  t.deepEqual(read({ interval: 5, limit: 1 }), { isPending: false, told: [] });
  t.deepEqual(read({ limit: 1 }), { isPending: true, told: [] });
});

test("values that do not fit into the store leave no older ones there, and that is said once", (t) => {
  const { host, read } = known();
  const shared = new SharedAttributes(host, new Events(host));
  shared.subscribe("note", () => {});
  t.true(host.store.values.has("shared"));
  for (const note of ["ü".repeat(2500), "ü".repeat(2501)]) shared.applyRead(["note"], { note });
  t.false(host.store.values.has("shared"));
  const [line] = host.lines;
  t.is(host.lines.length, 1);
  t.regex(line ?? "", /could not store the value "shared": it has \d+ bytes, at most 4000 fit/);
  read({ interval: 6, limit: 1 });
  t.true(host.store.values.has("shared"));
});
