import test from "ava";
import { operatorOf } from "../operator-of.js";
import { platformFor } from "../platform-for.js";

test("reads all 2,000 keys of a device, one with a comma included", async (t) => {
  const platform = await platformFor(t);
  const operator = await operatorOf(platform);
  const { id } = await operator.devices.create({ name: "keys" }, "keys-token");
  const keys = Array.from({ length: 2_000 }, (_, n) => `sensor-${n}-ü`);
  const values = Object.fromEntries([...keys, "a,b"].map((key, n) => [key, n]));
  const body = JSON.stringify({ ts: 1_760_000_000_000, values });
  await fetch(`${platform.url}/api/v1/keys-token/telemetry`, { method: "POST", body });
  const all = await operator.timeSeries.latest(id.id);
  t.is(Object.keys(all).length, 2_001);
  t.is(all["a,b"]?.value, 2_000);
  t.is(Object.keys(await operator.timeSeries.latest(id.id, keys)).length, 2_000);
  const range = { keys, startTs: 1_760_000_000_000, endTs: 1_760_000_000_001 };
  const found = await operator.timeSeries.range(id.id, range);
  t.deepEqual(
    keys.map((key) => found[key]?.[0]?.value),
    keys.map((_, n) => n),
  );
  t.deepEqual(await operator.timeSeries.latest(id.id, []), {});
});
