// How long a poll may last on the way to the platform, over a restart.
import test from "ava";
import { parseTarget } from "../../../src/http/target.js";
import { PollMemory, PollTiming, rememberedTiming } from "../../../src/platform/poll-timing.js";
import { fakeHost } from "../../fakes/host.js";

const to = (url: string) => {
  const parsed = parseTarget(url);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.target;
};
const PLATFORM = to("https://platform.test/tb");
const FOUND = { ceilingMs: 60_000, restMs: 50_000 };
const put = (host: ReturnType<typeof fakeHost>, value: object) =>
  host.store.values.set("poll", new Uint8Array([1, ...new TextEncoder().encode(JSON.stringify(value))]));

test("what was found out on the way to one platform is known to the next start, and of no use on another", (t) => {
  const host = fakeHost();
  new PollMemory(host, PLATFORM, new PollTiming()).keep();
  t.deepEqual(host.store.changes, [], "nothing was found out");
  const memory = new PollMemory(host, PLATFORM, new PollTiming());
  Object.assign(memory, { _timing: new PollTiming(FOUND) });
  memory.keep();
  memory.keep();
  t.deepEqual(host.store.changes, ["poll"], "what is stored is not stored again");
  t.deepEqual(rememberedTiming(host, PLATFORM).ceiling, new PollTiming(FOUND).ceiling);
  for (const other of ["http://platform.test/tb", "https://platform.test", "https://platform.test:8443/tb"])
    t.is(rememberedTiming(host, to(other)).ceiling, undefined, other);
  const again = new PollMemory(host, PLATFORM, rememberedTiming(host, PLATFORM));
  again.keep();
  t.deepEqual(host.store.changes, ["poll"]);
  Object.assign(again, { _timing: new PollTiming() });
  again.keep();
  t.deepEqual([...host.store.values.keys()], [], "there is none any more");
});

test("what makes no sense is no ceiling", (t) => {
  const sound = { to: "true/platform.test/tb", ...FOUND };
  const host = fakeHost();
  put(host, sound);
  t.truthy(rememberedTiming(host, PLATFORM).ceiling);
  for (const value of [undefined, null, "60000", {}])
    for (const name of ["ceilingMs", "restMs"]) {
      put(host, { ...sound, [name]: value });
      t.is(rememberedTiming(host, PLATFORM).ceiling, undefined, `${name} ${value}`);
    }
});
