// The known shared attributes: a key that an answer lacks may be missing for a moment only.
import test from "ava";
import { SECOND_READ_MS, SharedValues } from "../../../../src/agent/attributes/shared-values.js";
import { fakeHost } from "../../../fakes/host.js";

function known() {
  const host = fakeHost();
  const values = new SharedValues(host);
  values.learn(["interval", "limit"], { interval: 5, limit: 1 });
  const missing = () => values.missing(["interval", "limit"], { limit: 1 });
  return { host, values, missing };
}

test("removes an attribute that two reads lack, at least 2 s apart, and not after one", async (t) => {
  const { host, values, missing } = known();
  t.like(missing(), { gone: [], pending: true });
  t.is(values.value("interval"), 5);
  await host.clock.advance(SECOND_READ_MS - 1);
  t.like(missing(), { gone: [], pending: true });
  t.is(values.value("interval"), 5);
  await host.clock.advance(1);
  t.like(missing(), { gone: ["interval"], pending: false });
  t.is(values.value("interval"), undefined);
  t.is(values.value("limit"), 1);
});

test("an attribute that is back in between is missing for the first time again", async (t) => {
  const { host, values, missing } = known();
  missing();
  await host.clock.advance(SECOND_READ_MS);
  t.deepEqual(values.learn(["interval"], { interval: 5 }), []);
  t.like(missing(), { gone: [], pending: true });
});
