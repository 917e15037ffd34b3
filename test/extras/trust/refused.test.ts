// Announcements that nobody signed, that somebody else signed, that were changed on the way or come too late: nothing of them is trusted.
import { createSign, type KeyObject } from "node:crypto";
import test from "ava";
import fc from "fast-check";
import {
  type Announced,
  MARK,
  pieceKeys,
  readAnnouncement,
  signedText,
} from "../../../extras/trust/announcement.js";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, idOf, piecesOf } from "../../../tools/cli/commands/trust/announce.js";
import { der, MINUTE, newKey, PRODUCT, World } from "./world.js";
import { Authorities, type Issued } from "./x509/authority.js";
import { changes } from "./x509/changes.js";

const made = new Authorities();
const { first, second, stranger, shown } = changes(made);
const CA = "critical,CA:TRUE";
const server = made.issue("server", stranger, { names: "DNS:localhost", days: [-1, 30] });
const over = made.issue("over", undefined, { constraints: CA, days: [-30, -1] });
const foreign = { ...shown.ofStranger, by: [] };
test.after.always(() => made.remove());

/** An authority whose certificate is as long as that of `one`: signatures differ by a byte or two. */
function asLongAs(one: Issued): Issued {
  for (let tries = 0; tries < 50; tries++) {
    const other = made.issue("root", undefined, { constraints: CA, days: [-1, 3650] });
    if (der(other).length === der(one).length) return other;
  }
  throw new Error("no certificate of that length came");
}
const rival = asLongAs(stranger);

type Values = Record<string, unknown>;
/** What an attacker who can write shared attributes makes of a good announcement of `stranger`. */
type Attack = (good: { announced: Values; pieces: Values }, key: KeyObject) => Values;

const bytesOf = (announced: Values): string => signedText(announced as unknown as Announced);
const signed = (text: string, key: KeyObject): string =>
  createSign("sha256").update(text).sign(key).toString("hex");

const ATTACKS: Readonly<Record<string, readonly [attack: Attack, reason: RegExp]>> = {
  "not signed": [
    ({ announced, pieces }) => ({ ...pieces, moteTrust: { ...announced, signature: undefined } }),
    /^it is not an announcement$/,
  ],
  "signed by somebody else": [
    ({ announced, pieces }) => ({
      ...pieces,
      moteTrust: { ...announced, signature: signed(bytesOf(announced), newKey()) },
    }),
    /not signed with firmware.publicKey/,
  ],
  "signed as a firmware of the same words": [
    ({ announced, pieces }, key) => ({
      ...pieces,
      moteTrust: {
        ...announced,
        signature: signImage(key, Buffer.from(bytesOf(announced).slice(MARK.length))).signature,
      },
    }),
    /not signed with firmware.publicKey/,
  ],
  "of another number than was signed": [
    ({ announced, pieces }) => ({ ...pieces, moteTrust: { ...announced, sequence: 2_000_000_000 } }),
    /not signed with firmware.publicKey/,
  ],
  "of another certificate than was signed": [
    ({ announced, pieces }) => ({
      ...pieces,
      moteTrust: { ...announced, ca: [{ sha256: idOf(der(second)), bytes: der(second).length }] },
    }),
    /not signed with firmware.publicKey/,
  ],
  "dropping more than was signed": [
    ({ announced, pieces }) => ({ ...pieces, moteTrust: { ...announced, drop: ["old"] } }),
    /not signed with firmware.publicKey/,
  ],
  "with the pieces of another": [
    ({ announced, pieces }) => ({ ...swapped(pieces, der(rival)), moteTrust: announced }),
    /not the one that was signed/,
  ],
  "with fewer bytes than were signed": [
    ({ announced, pieces }) => ({ ...swapped(pieces, der(rival).subarray(9)), moteTrust: announced }),
    /shorter than it was announced/,
  ],
  "with a piece missing": [({ announced }) => ({ moteTrust: announced }), /missing/],
  "with a piece that is no text": [
    ({ announced, pieces }) => ({
      ...Object.fromEntries(Object.keys(pieces).map((name) => [name, 7])),
      moteTrust: announced,
    }),
    /missing, or is no base64/,
  ],
  "a text": [() => ({ moteTrust: "trust me" }), /^it is not an announcement$/],
};

/** The same attributes with the bytes of another certificate. */
function swapped(pieces: Values, bytes: Uint8Array): Values {
  const names = Object.keys(pieces);
  const part = Math.ceil(bytes.length / names.length);
  return Object.fromEntries(
    names.map((name, n) => [name, Buffer.from(bytes.subarray(n * part, (n + 1) * part)).toString("base64")]),
  );
}

for (const [what, [attack, reason]] of Object.entries(ATTACKS))
  test(`an announcement ${what} is refused, and nobody of it is trusted`, async (t) => {
    const world = new World(shown.ofFirst, [first]);
    await world.online(t);
    const certificates = [der(stranger)];
    const announced = announce(
      undefined,
      { product: PRODUCT, certificates, drop: [] },
      world.key,
      world.clock.wall(),
    );
    const pieces = piecesOf(announced, certificates);
    world.platform.setShared(world.device, attack({ announced: { ...announced }, pieces }, world.key));
    await world.clock.advance(MINUTE);
    t.regex(world.state.refused?.reason ?? "", reason);
    t.is(world.state.trusts.length, 1);
    world.shown = foreign;
    await world.restart();
    t.false(await world.reaches(10 * MINUTE));
    t.is(world.accepted, 0);
    world.shown = shown.ofFirst;
    t.true(await world.reaches());
  });

test("an earlier announcement that comes again is refused, also after another start, and a second one of the same number", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  await world.online(t);
  const at = world.clock.wall() ?? 0;
  const push = (certificates: Uint8Array[], ms: number, drop: string[] = []): void => {
    const announced = announce(undefined, { product: PRODUCT, certificates, drop }, world.key, at + ms);
    world.platform.setShared(world.device, piecesOf(announced, certificates));
    world.platform.setShared(world.device, { moteTrust: announced });
  };
  push([der(second)], 5000);
  await world.clock.advance(MINUTE);
  t.is(world.state.trusts.length, 2);
  push([der(stranger)], 4000);
  await world.clock.advance(MINUTE);
  t.is(world.state.refused?.reason, "it is older than the last one that was taken");
  await world.restart();
  await world.reaches();
  await world.clock.advance(MINUTE);
  t.is(world.state.refused?.reason, "it is older than the last one that was taken");
  push([der(stranger)], 5000);
  await world.clock.advance(MINUTE);
  t.is(world.state.refused?.reason, "another announcement with its sequence number was taken");
  t.is(world.state.trusts.length, 2);
});

test("what is signed and over, or is no certificate, is refused by the device as well", async (t) => {
  for (const [bytes, reason] of [
    [der(over), "the certificate has expired"],
    [der(second).subarray(1), "it is not a certificate"],
  ] as const) {
    const world = new World(shown.ofFirst, [first]);
    await world.online(t);
    const announced = announce(
      undefined,
      { product: PRODUCT, certificates: [bytes], drop: [] },
      world.key,
      world.clock.wall(),
    );
    world.platform.setShared(world.device, piecesOf(announced, [bytes]));
    world.platform.setShared(world.device, { moteTrust: announced });
    await world.clock.advance(MINUTE);
    t.is(world.state.refused?.reason, reason);
    t.is(world.state.trusts.length, 1);
  }
});

test("one that is signed and no authority vouches for nobody", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  await world.online(t);
  world.push({ ca: [server] });
  await world.clock.advance(MINUTE);
  const below = made.issue("below", server, { names: "DNS:localhost", days: [-1, 30] });
  world.shown = { chain: [below, server], by: [] };
  await world.restart();
  t.false(await world.reaches(10 * MINUTE));
  t.is(world.accepted, 0);
});

test("a device whose firmware is signed by nobody takes nothing", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  world.publicKey = undefined;
  await world.online(t);
  world.push({ ca: [second] });
  await world.clock.advance(MINUTE);
  t.is(world.state.refused?.reason, "it is not signed with firmware.publicKey");
});

test("a signature for one is none for the other: mote sign refuses an announcement for an image", (t) => {
  const key = newKey();
  const announced = announce(undefined, { product: PRODUCT, certificates: [der(second)], drop: [] }, key);
  t.throws(() => signImage(key, Buffer.from(signedText(announced))), { message: /mote trust push/ });
  t.throws(() => signImage(key, Buffer.from(`${MARK}anything`)));
  t.notThrows(() => signImage(key, Buffer.from([0, 1, 2])));
});

test("whatever value the attribute has, it is read or refused, and what is read has lawful names", (t) => {
  const part = fc.oneof(fc.jsonValue(), fc.stringMatching(/^[0-9a-f]{0,70}$/));
  const shape = fc.record(
    {
      product: fc.oneof(part, fc.string()),
      sequence: part,
      ca: fc.array(fc.record({ sha256: part, bytes: part })),
      drop: fc.array(part),
      signature: part,
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), shape), (value) => {
      const read = readAnnouncement(value);
      return (
        read === undefined ||
        read.ca.every((one) => pieceKeys(one).every((name) => /^moteTrust-[0-9a-f]{16}-\d$/.test(name)))
      );
    }),
    { numRuns: 3000 },
  );
  t.pass();
});

test("two announcements have the same words to sign only if they are the same", (t) => {
  const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
  const announced = fc.record({
    product: fc.stringMatching(/^[a-z \d]{0,9}$/),
    sequence: fc.integer({ min: 1 }),
    ca: fc.array(fc.record({ sha256: hex, bytes: fc.integer({ min: 1, max: 2048 }) }), { maxLength: 3 }),
    drop: fc.array(fc.oneof(fc.constantFrom("old", "built-in"), hex), { maxLength: 12 }),
  });
  fc.assert(
    fc.property(announced, announced, (one, other) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      return (
        (signedText(one) === signedText(other)) === isSame &&
        signedText(one).startsWith(`\0mote trust ${one.product === "" ? 1 : 2}\n`)
      );
    }),
    { numRuns: 2000 },
  );
  t.pass();
});

/** Handshakes that trusted `one`. */
const handshakesBy = ({ handshakes }: World, one: Issued): number =>
  handshakes.filter((list) => list.some((other) => Buffer.from(der(one)).equals(other))).length;

test("announcements that nobody signed neither cost handshakes nor put a waiting drop off", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  await world.online(t);
  world.push({ ca: [second], drop: ["old"] });
  await world.clock.advance(MINUTE);
  t.is(world.state.waiting?.length, 1, "the server still shows what is to be dropped");
  const probes = (): number => world.handshakes.length - handshakesBy(world, first);
  const before = probes();
  const good = world.platform.attributes(world.device, "SHARED_SCOPE").moteTrust as Announced;
  for (let n = 1; n <= 16; n++) {
    const fake = n % 2 === 0 ? { ...good, sequence: good.sequence + n } : { drop: n };
    world.platform.setShared(world.device, { moteTrust: fake });
    await world.clock.advance(MINUTE / 2);
  }
  t.is(probes(), before);
  world.shown = shown.ofSecond;
  await world.clock.advance(3 * MINUTE);
  t.is(world.state.waiting, undefined, "10 minutes after the last try");
});

test("a signed announcement is tried at once, and again only later, whatever is announced between", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  world.unreadable = second;
  await world.online(t);
  world.push({ ca: [second] });
  await world.clock.advance(MINUTE);
  t.is(handshakesBy(world, second), 1);
  const good = world.platform.attributes(world.device, "SHARED_SCOPE").moteTrust as Announced;
  for (let n = 0; n < 8; n++) {
    world.platform.setShared(world.device, { moteTrust: n % 2 === 0 ? { drop: n } : { ...good } });
    await world.clock.advance(MINUTE);
  }
  t.is(handshakesBy(world, second), 1);
  world.unreadable = undefined;
  await world.clock.advance(2 * MINUTE);
  t.is(world.state.trusts.length, 2);
});
