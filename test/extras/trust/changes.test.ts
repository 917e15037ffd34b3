// What becomes of a device while its server's authority is renewed, signed by another or replaced: it stays in reach, and trusts nobody else meanwhile.
import test from "ava";
import { DAY, MINUTE, short, World } from "./world.js";
import { Authorities } from "./x509/authority.js";
import { changes, type Shown } from "./x509/changes.js";

const made = new Authorities();
const { first, second, stranger, shown } = changes(made);
const CA = "critical,CA:TRUE";
/** With name and key of `first`, of which it is the beginning. */
const ending = made.issue("root", undefined, { constraints: CA, days: [-1, 20], keyOf: first });
const foreign: Shown = { ...shown.ofStranger, by: [] };
test.after.always(() => made.remove());

/** Whether a device that starts by this chain comes online; then it stands as before. */
async function takes(world: World, other: Shown): Promise<boolean> {
  const before = world.shown!;
  const isReached = await world.isReached(other, 60 * MINUTE);
  await world.isReached(before, 60 * MINUTE);
  return isReached;
}

test("an authority that ends is warned of, renewed, and the device outlives its end", async (t) => {
  for (const isRenewed of [false, true]) {
    const world = await new World(shown.ofFirst, [ending]).online(t);
    t.regex(String(world.warning), /^the last trusted CA expires on \d{4}-\d\d-\d\d$/);
    if (isRenewed) {
      await world.pushed({ ca: [first] });
      t.deepEqual(world.trusted, [short(ending), short(first)]);
      t.is(world.warning, "");
    }
    await world.end();
    world.clock.setWall(Date.now() + 30 * DAY);
    world.start();
    t.is(await world.reaches(), isRenewed);
    t.false(await world.isReached(foreign, 60 * MINUTE));
    t.is(world.accepted, 0);
  }
});

test("an authority is replaced: the other is taken, then shown, then the old one is dropped", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  t.false(await takes(world, shown.ofSecond));
  const sequence = await world.pushed({ ca: [second] });
  t.deepEqual(world.state, { ...world.state, sequence });
  t.true(await takes(world, shown.ofFirst));
  world.shown = shown.ofSecond;
  t.true(await takes(world, shown.ofSecond));
  await world.pushed({ drop: ["old"] });
  t.deepEqual(world.trusted, [short(second)]);
  t.false(await takes(world, shown.ofFirst), "what was dropped");
  t.true(await takes(world, shown.ofSecond));
  t.false(await takes(world, foreign));
  t.is(world.accepted, 0);
});

test("what is to be dropped is trusted until a handshake by another succeeded", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  world.push({ ca: [second], drop: ["old"] });
  await world.clock.advance(65 * MINUTE);
  t.deepEqual(world.trusted, [short(first), short(second)]);
  t.deepEqual(world.state.waiting, [short(first)]);
  const tries = world.host!.lines.filter((line) => line.includes("no CA dropped yet")).length;
  t.is(tries, 3, "at once, after 10 minutes, after 20");
  t.true(await world.isReached(shown.ofSecond));
  await world.clock.advance(MINUTE);
  t.deepEqual(world.trusted, [short(second)]);
  t.is(world.state.waiting, undefined);
});

test("a device that missed every change trusts a server that shows the old CA's signature", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  await world.end();
  world.push({ ca: [stranger] });
  world.push({ ca: [second], drop: [short(stranger)] });
  world.shown = shown.crossSigned;
  world.clock.setWall(Date.now() + 60 * DAY);
  world.start();
  t.true(await world.reaches());
  await world.clock.advance(MINUTE);
  t.deepEqual(world.trusted, [short(first), short(second)], "the last announcement has all of those before");
});

test("a device that sleeps takes it in the wake that learns of it, and drops in the wake that can", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  const usual = [await world.wake(), await world.wake()][1] as number;
  world.push({ ca: [second], drop: ["old"] });
  await world.wake();
  await world.wake();
  t.deepEqual(world.trusted, [short(first), short(second)]);
  world.shown = shown.ofSecond;
  await world.wake();
  await world.wake();
  t.deepEqual(world.trusted, [short(second)]);
  const now = await world.wake();
  t.true(now <= usual, `nothing is left that would keep it awake: ${now} ms, and ${usual} before`);
});

test("what its owner gave is superseded in the same way, and given again by the owner counts again", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  world.isCommissioned = true;
  await world.online(t);
  await world.pushed({ ca: [second] });
  world.shown = shown.ofSecond;
  await world.pushed({ drop: [short(first)] });
  t.deepEqual(world.trusted, [short(second)]);
  await world.end();
  world.given = [stranger];
  world.shown = shown.ofStranger;
  world.start();
  t.true(await world.reaches(), "the owner's word is the last");
  await world.clock.advance(MINUTE);
  t.true(world.trusted.includes(short(stranger)));
});

test("three are kept beside those that were given; a fourth is refused, and one that is dropped makes room", async (t) => {
  const more = [1, 2, 3].map((n) =>
    made.issue(`more ${n}`, undefined, { constraints: CA, days: [-1, 3650] }),
  );
  const world = await new World(shown.ofFirst, [first]).online(t);
  for (const one of more) {
    await world.pushed({ ca: [one] });
  }
  t.is(world.trusted.length, 4);
  t.throws(() => world.push({ ca: [second] }), { message: /drop 1 of these with --drop: / });
  world.platform.deleteShared(world.device, ["moteTrust"]);
  await world.pushed({ ca: [second] });
  t.regex(world.state.refused?.reason ?? "", /^full: 3 CAs were added/);
  await world.pushed({ drop: [short(second), short(more[0]!)] });
  t.is(world.trusted.length, 3);
  await world.pushed({ ca: [second] });
  t.true(world.trusted.includes(short(second)));
  t.true(await takes(world, shown.ofFirst));
});

test("the last authority can't be dropped, nor what the server shows", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  await world.pushed({ drop: [short(first)] });
  t.is(world.state.refused?.reason, "no CA would be left");
  world.push({ ca: [second], drop: [short(first)] });
  await world.clock.advance(60 * MINUTE);
  t.true(world.trusted.includes(short(first)));
  t.true(await takes(world, shown.ofFirst));
});

test("a store that takes nothing leaves all as it was, and the device tries again", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  for (const refused of ["trust-1", "trust"]) {
    world.body.store.fails = (call, key) => call === "set" && key === refused;
    await world.pushed({ ca: [second] });
    t.is(world.state.refused?.reason, "the change could not be stored");
    t.deepEqual(world.trusted, [short(first)]);
  }
  world.body.store.fails = undefined;
  await world.clock.advance(15 * MINUTE);
  t.deepEqual(world.trusted, [short(first), short(second)]);
  t.is(world.state.refused, undefined);
});

test("what TLS can't read is not kept: it would shut the device out", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  world.unreadable = second;
  await world.online(t);
  await world.pushed({ ca: [second] });
  t.is(world.state.refused?.reason, "no handshake succeeded with it: certificate: malformed");
  t.true(await takes(world, shown.ofFirst));
  t.deepEqual(world.trusted, [short(first)]);
});

test("a damaged certificate in the store is none, and is fetched again", async (t) => {
  const world = await new World(shown.ofFirst, [first]).online(t);
  await world.pushed({ ca: [second] });
  await world.end();
  const kept = world.body.store.values.get("trust-1")!;
  kept[300]! ^= 1;
  t.false(await takes(world, shown.ofSecond));
  await world.clock.advance(MINUTE);
  t.deepEqual(world.trusted, [short(first), short(second)], "what is still announced");
  t.true(await takes(world, shown.ofSecond));
});
