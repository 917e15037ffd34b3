// A CA that was dropped stays dropped: whoever gives it again, whatever becomes of the record, and over an update and a rollback.
import test, { type ExecutionContext } from "ava";
import fc from "fast-check";
import type { Announced } from "../../../extras/trust/announcement.js";
import { Trusted } from "../../../extras/trust/trusted.js";
import { idOf } from "../../../tools/cli/commands/trust/announce.js";
import { FakeStore, fakeHost } from "../../fakes/host.js";
import { EarlierImage } from "./earlier-image.js";
import { MINUTE, short, World } from "./world.js";
import { Authorities, der } from "./x509/authority.js";
import { changes } from "./x509/changes.js";

const made = new Authorities();
const { first, second, stranger, shown } = changes(made);
test.after.always(() => made.remove());
const CA = "critical,CA:TRUE";

/** `first` is dropped, `second` is added. */
async function replaced(t: ExecutionContext, isCommissioned = false, given = [first]): Promise<World> {
  const world = new World(shown.ofFirst, given);
  world.isCommissioned = isCommissioned;
  await world.online(t);
  await world.pushed({ ca: [second] });
  world.shown = shown.ofSecond;
  await world.pushed({ drop: ["old"] });
  t.deepEqual(world.trusted, [short(second)]);
  return world;
}

test("a deleted or damaged record is restored from its copy, and the reverse", async (t) => {
  for (const key of ["trust", "trust-copy"])
    for (const isDamaged of [false, true]) {
      const world = await replaced(t);
      await world.end();
      const { values } = world.body.store;
      if (isDamaged) values.set(key, Uint8Array.of(1, 0x7b, 0xff));
      else values.delete(key);
      world.start();
      t.true(await world.reaches(), `${key} ${isDamaged ? "damaged" : "deleted"}`);
      await world.clock.advance(MINUTE);
      t.deepEqual(world.trusted, [short(second)]);
      t.deepEqual(values.get("trust"), values.get("trust-copy"));
      t.false(await world.isReached(shown.ofFirst));
    }
});

test("an older record that is put back is not believed", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  await world.pushed({ ca: [second] });
  const { values } = world.body.store;
  const older = values.get("trust")!.slice();
  world.shown = shown.ofSecond;
  await world.pushed({ drop: ["old"] });
  await world.end();
  values.set("trust", older);
  t.false(await world.isReached(shown.ofFirst));
  t.true(await world.isReached(shown.ofSecond));
});

test("without a readable record only signed CAs are trusted, and those that the owner gave", async (t) => {
  for (const isCommissioned of [false, true]) {
    const world = await replaced(t, isCommissioned);
    await world.end();
    for (const key of ["trust", "trust-copy"]) world.body.store.values.set(key, Uint8Array.of(9, 9, 9));
    world.start();
    t.true(await world.reaches(), "by the CA that was added");
    t.true(world.host!.lines.some((line) => line.includes("neither state nor copy can be read")));
    t.is(await world.isReached(shown.ofFirst), isCommissioned);
  }
});

test("an announcement for another product is refused, and one for none", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  for (const [product, reason] of [
    ["pump", "it is for another product than this device's firmware.title"],
    ["", "it names no product: push it again with a current mote-cli"],
  ] as const) {
    await world.pushed({ ca: [second], product });
    t.is(world.state.refused?.reason, reason);
    t.deepEqual(world.trusted, [short(first)]);
  }
  await world.pushed({ ca: [second] });
  t.deepEqual(world.trusted, [short(first), short(second)]);
});

test("an announcement that an earlier image took is not refused afterwards", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  const sequence = world.push({ ca: [second], product: "" });
  await world.end();
  const { store } = world.body;
  store.values.clear();
  const image = new EarlierImage({ ...fakeHost(), store }, [der(first)], false);
  t.true(image.take(sequence, [der(second)], []));
  world.start();
  t.true(await world.reaches());
  await world.clock.advance(MINUTE);
  t.is(world.state.refused, undefined);
  t.deepEqual(world.trusted, [short(first), short(second)]);
});

test("an earlier image that returns honors the drops, and what it forgets is not forgotten", async (t) => {
  const many = Array.from({ length: 20 }, (_, n) =>
    made.issue(`more ${n}`, undefined, { constraints: CA, days: [-1, 3650], keyOf: stranger }),
  );
  const world = await replaced(t, false, [first, ...many]);
  await world.end();
  const { store } = world.body;
  const given = world.given.map(der);
  const image = new EarlierImage({ ...fakeHost(), store }, given, false);
  t.deepEqual(image.trusted, [der(second)]);
  // It writes: of 21 drops it keeps 16.
  t.true(image.take(image.kept.sequence + 1, [], []));
  t.is(image.trusted.length, 6);
  world.start();
  t.true(await world.reaches());
  await world.clock.advance(MINUTE);
  t.deepEqual(world.trusted, [short(second)]);
});

// From here on without TLS: certificates are bytes with a name.

const certificate = (n: number): Uint8Array => Uint8Array.of(0x30, 2, n >> 8, n & 255);
const numberOf = (one: Uint8Array): number => one[2]! * 256 + one[3]!;
const id = (n: number): string => idOf(certificate(n));

function hostOn(store: FakeStore) {
  return { ...fakeHost(), store };
}

function load(store: FakeStore, given: readonly number[], isCommissioned: boolean): Trusted {
  return new Trusted(hostOn(store), {
    authorities: given.map(certificate),
    isBuiltIn: false,
    isCommissioned,
    open: () => () => ({ write: () => 0, read: () => 0, close: () => {} }),
  });
}

const announced = (ca: readonly number[], drop: readonly string[], sequence = 1): Announced => ({
  product: "lamp",
  sequence,
  ca: ca.map((n) => ({ sha256: id(n), bytes: 4 })),
  drop,
});

/** What an announcement does while all handshakes succeed; its drops only if `drops`. Why it is refused, or undefined. */
function carryOut(one: Trusted, ca: readonly number[], what: Announced, drops: boolean): string | undefined {
  const change = one.changeFor(what);
  if (typeof change === "string") return change;
  const numbers = change.missing.map(({ sha256 }) => ca.find((n) => id(n) === sha256)!);
  const fresh = numbers.map((n) => ({ id: id(n), der: certificate(n) }));
  if (!one.accept(what, "0".repeat(64), change.waiting, fresh)) return "not stored";
  if (drops && change.waiting.length > 0 && !one.dropWaiting()) return "not stored";
  return undefined;
}

const numbers = fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 6 });
const step = fc.oneof(
  fc.record({
    kind: fc.constant("announce" as const),
    ca: fc.uniqueArray(fc.integer({ min: 0, max: 11 }), { maxLength: 3 }),
    drop: fc.array(fc.oneof(fc.constant("old"), fc.integer({ min: 0, max: 11 })), { maxLength: 4 }),
    drops: fc.boolean(),
    /** A key that the store refuses meanwhile. */
    refused: fc.constantFrom(undefined, undefined, "trust", "trust-copy", "trust-1"),
  }),
  fc.record({ kind: fc.constant("give" as const), given: numbers, isCommissioned: fc.boolean() }),
  fc.record({
    kind: fc.constant("lose" as const),
    key: fc.constantFrom("trust", "trust-copy"),
    damage: fc.boolean(),
  }),
  fc.record({ kind: fc.constant("earlier" as const), drop: numbers }),
);

test("no sequence of announcements, owners, losses and rollbacks brings a dropped CA back", (t) => {
  let drops = 0;
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      const store = new FakeStore();
      let given: readonly number[] = [0, 1, 2, 3];
      let isCommissioned = false;
      const gone = new Set<number>();
      let one = load(store, given, isCommissioned);
      const now = (): number[] => one.authorities().map(({ der }) => numberOf(der));
      for (const what of steps) {
        if (what.kind === "announce") {
          const { ca, refused } = what;
          const drop = what.drop.map((n) => (n === "old" ? n : id(n).slice(0, 16)));
          store.fails = (call, key) => call === "set" && key === refused;
          const before = now();
          carryOut(one, ca, announced(ca, drop), what.drops);
          store.fails = undefined;
          // What the device acts on is what it keeps.
          const after = now();
          for (const n of before) if (!after.includes(n)) gone.add(n);
          for (const n of ca) if (after.includes(n)) gone.delete(n);
          drops = Math.max(drops, gone.size);
        } else if (what.kind === "give") ({ given, isCommissioned } = what);
        else if (what.kind === "lose") {
          const value = store.values.get(what.key);
          if (value && what.damage) value[0] = 9;
          else store.values.delete(what.key);
        } else if (store.values.get("trust")?.[0] === 1) {
          const image = new EarlierImage(hostOn(store), given.map(certificate), isCommissioned);
          const waiting = what.drop.filter((n) => image.trusted.some((der) => numberOf(der) === n));
          if (waiting.length < image.trusted.length && waiting.length > 0) {
            image.take(1, [], waiting.map(id));
            image.drop();
            for (const n of waiting) gone.add(n);
          }
        }
        one = load(store, given, isCommissioned);
        if (now().some((n) => gone.has(n))) return false;
      }
      return true;
    }),
    { numRuns: 5000 },
  );
  t.log({ drops });
  t.true(drops > 3);
});

test("drops that do not fit the store are refused, and all that was trusted stays trusted", (t) => {
  const store = new FakeStore();
  const range = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);
  const sixty = load(store, range(0, 60), false);
  t.regex(carryOut(sixty, [900], announced([900], ["old"]), true) ?? "", /do not fit the store/);
  t.is(sixty.authorities().length, 60);
  t.is(store.values.size, 0);
  const gone: number[] = [];
  let refused: string | undefined;
  for (let from = 0; !refused && from < 1000; from += 30) {
    const given = range(from, 30);
    const one = load(store, given, false);
    refused = carryOut(one, [900], announced([900], ["old"]), true);
    if (!refused) gone.push(...given);
    const left = load(store, given, false).authorities();
    t.is(left.length, refused ? 31 : 1, `${from}: ${refused}`);
  }
  t.regex(refused ?? "", /^30 CAs to drop and \d+ dropped ones do not fit the store: drop fewer$/);
  t.log(`${gone.length} are remembered`);
  t.true(gone.length >= 90);
  t.deepEqual(
    load(store, gone, false)
      .authorities()
      .map(({ der }) => numberOf(der)),
    [900],
  );
});
