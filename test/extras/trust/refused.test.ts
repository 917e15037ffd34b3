// Announcements that nobody signed, that somebody else signed, that were changed on the way or come
// too late: nothing of them is trusted.
import { createSign, type KeyObject } from "node:crypto";
import test, { type ExecutionContext } from "ava";
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
import { MINUTE, newKey, PRODUCT, World } from "./world.js";
import { Authorities, der, type Issued } from "./x509/authority.js";
import { changes } from "./x509/changes.js";

const made = new Authorities();
const { first, second, stranger, shown } = changes(made);
const CA = "critical,CA:TRUE";
const server = made.issue("server", stranger, { names: "DNS:localhost", days: [-1, 30] });
const over = made.issue("over", undefined, { constraints: CA, days: [-30, -1] });
const foreign = { ...shown.ofStranger, by: [] };
test.after.always(() => made.remove());

const online = (t: ExecutionContext): Promise<World> => new World(shown.ofFirst, [first]).online(t);

/** Announces `certificates` as they are, `ms` after now. */
async function share(world: World, certificates: Uint8Array[], ms = 0): Promise<void> {
  const wanted = { product: PRODUCT, certificates, drop: [] };
  const announced = announce(undefined, wanted, world.key, (world.clock.wall() ?? 0) + ms);
  world.platform.setShared(world.device, piecesOf(announced, certificates));
  world.platform.setShared(world.device, { moteTrust: announced });
  await world.clock.advance(MINUTE);
}

type Values = Record<string, unknown>;
interface Good {
  readonly announced: Values;
  readonly pieces: Values;
  readonly key: KeyObject;
}
const bytesOf = (announced: Values): string => signedText(announced as unknown as Announced);
const signed = (text: string, key: KeyObject): string =>
  createSign("sha256").update(text).sign(key).toString("hex");
const flipped = (text: unknown): string => {
  const bytes = Buffer.from(String(text), "base64");
  bytes[bytes.length - 9]! ^= 1;
  return bytes.toString("base64");
};
const eachPiece = ({ pieces }: Good, change: (piece: unknown) => unknown): Values =>
  Object.fromEntries(Object.entries(pieces).map(([name, piece]) => [name, change(piece)]));

const NOT_SIGNED = /not signed with firmware.publicKey/;
/** What an attacker who can write shared attributes changes in a good announcement of `stranger`. */
const ATTACKS: Readonly<Record<string, readonly [change: (good: Good) => Values, reason: RegExp]>> = {
  "not signed": [() => ({ moteTrust: { signature: undefined } }), /^it is not an announcement$/],
  "signed by somebody else": [
    ({ announced }) => ({ moteTrust: { signature: signed(bytesOf(announced), newKey()) } }),
    NOT_SIGNED,
  ],
  "signed as a firmware of the same words": [
    ({ announced, key }) => {
      const { signature } = signImage(key, Buffer.from(bytesOf(announced).slice(MARK.length)));
      return { moteTrust: { signature } };
    },
    NOT_SIGNED,
  ],
  "of another number than was signed": [() => ({ moteTrust: { sequence: 2_000_000_000 } }), NOT_SIGNED],
  "of another certificate than was signed": [
    () => ({ moteTrust: { ca: [{ sha256: idOf(der(second)), bytes: der(second).length }] } }),
    NOT_SIGNED,
  ],
  "dropping more than was signed": [() => ({ moteTrust: { drop: ["old"] } }), NOT_SIGNED],
  "with other bytes": [(good) => eachPiece(good, flipped), /not the one that was signed/],
  "with fewer bytes than were signed": [
    (good) => eachPiece(good, (piece) => String(piece).slice(0, -4)),
    /shorter than announced/,
  ],
  "with a piece missing": [(good) => eachPiece(good, () => undefined), /missing/],
  "with a piece that is no text": [(good) => eachPiece(good, () => 7), /missing or is not base64/],
};

for (const [what, [change, reason]] of Object.entries(ATTACKS))
  test(`an announcement ${what} is refused, and nobody of it is trusted`, async (t) => {
    const world = await online(t);
    const { key, platform, device } = world;
    const certificates = [der(stranger)];
    const wanted = { product: PRODUCT, certificates, drop: [] };
    const announced = announce(undefined, wanted, key, world.clock.wall());
    const pieces = piecesOf(announced, certificates);
    const { moteTrust, ...others } = change({ announced: { ...announced }, pieces, key });
    const left = Object.entries({ ...pieces, ...others }).filter(([, piece]) => piece !== undefined);
    platform.setShared(device, Object.fromEntries(left));
    platform.setShared(device, { moteTrust: { ...announced, ...(moteTrust as object) } });
    await world.clock.advance(MINUTE);
    t.regex(world.state.refused?.reason ?? "", reason);
    t.is(world.state.trusts.length, 1);
    t.false(await world.isReached(foreign));
    t.is(world.accepted, 0);
    world.shown = shown.ofFirst;
    t.true(await world.reaches());
  });

test("an earlier announcement, and another of the same number, are refused, also after another start", async (t) => {
  const world = await online(t);
  const at = world.clock.now();
  const since = (): number => at - world.clock.now();
  await share(world, [der(second)], since() + 5000);
  t.is(world.state.trusts.length, 2);
  await share(world, [der(stranger)], since() + 4000);
  t.is(world.state.refused?.reason, "it is older than the last accepted announcement");
  await world.restart();
  await world.reaches();
  await world.clock.advance(2 * MINUTE);
  t.is(world.state.refused?.reason, "it is older than the last accepted announcement");
  await share(world, [der(stranger)], since() + 5000);
  t.is(world.state.refused?.reason, "another announcement with the same sequence number was accepted");
  t.is(world.state.trusts.length, 2);
});

test("a signed certificate that is over, none, or not a CA's is refused by the device or by its TLS", async (t) => {
  for (const [bytes, reason] of [
    [der(over), "the certificate has expired"],
    [der(second).subarray(1), "it is not a certificate"],
  ] as const) {
    const world = await online(t);
    await share(world, [bytes]);
    t.is(world.state.refused?.reason, reason);
    t.is(world.state.trusts.length, 1);
  }
  const world = await online(t);
  await world.pushed({ ca: [server] });
  const below = made.issue("below", server, { names: "DNS:localhost", days: [-1, 30] });
  t.false(await world.isReached({ chain: [below, server], by: [] }));
  t.is(world.accepted, 0);
});

test("a device whose firmware is not signed takes nothing; no announcement is a signature for an image", async (t) => {
  const world = new World(shown.ofFirst, [first]);
  world.publicKey = undefined;
  await world.online(t);
  await world.pushed({ ca: [second] });
  t.regex(world.state.refused?.reason ?? "", NOT_SIGNED);
  const key = newKey();
  const announced = announce(undefined, { product: PRODUCT, certificates: [der(second)], drop: [] }, key);
  t.throws(() => signImage(key, Buffer.from(signedText(announced))), { message: /mote trust push/ });
  t.throws(() => signImage(key, Buffer.from(`${MARK}anything`)));
});

test("whatever value the attribute has, it is read or refused, and its pieces have lawful names", (t) => {
  const part = fc.oneof(fc.jsonValue(), fc.stringMatching(/^[0-9a-f]{0,70}$/));
  const ca = fc.array(fc.record({ sha256: part, bytes: part }));
  const shape = fc.record(
    { product: fc.oneof(part, fc.string()), sequence: part, ca, drop: fc.array(part), signature: part },
    { requiredKeys: [] },
  );
  t.notThrows(() =>
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), shape), (value) => {
        const names = readAnnouncement(value)?.ca.flatMap(pieceKeys) ?? [];
        return names.every((name) => /^moteTrust-[0-9a-f]{16}-\d$/.test(name));
      }),
      { numRuns: 3000 },
    ),
  );
});

test("two announcements have the same words to sign only if they are the same", (t) => {
  const hex = fc.stringMatching(/^[0-9a-f]{64}$/);
  const announced = fc.record({
    product: fc.stringMatching(/^[a-z \d]{0,9}$/),
    sequence: fc.integer({ min: 1 }),
    ca: fc.array(fc.record({ sha256: hex, bytes: fc.integer({ min: 1, max: 2048 }) }), { maxLength: 3 }),
    drop: fc.array(fc.oneof(fc.constantFrom("old", "built-in"), hex), { maxLength: 12 }),
  });
  t.notThrows(() =>
    fc.assert(
      fc.property(announced, announced, (one, other) => {
        const isSame = JSON.stringify(one) === JSON.stringify(other);
        const isMarked = signedText(one).startsWith(`\0mote trust ${one.product === "" ? 1 : 2}\n`);
        return (signedText(one) === signedText(other)) === isSame && isMarked;
      }),
      { numRuns: 2000 },
    ),
  );
});

/** Handshakes that trusted `one`. */
const handshakesBy = ({ handshakes }: World, one: Issued): number =>
  handshakes.filter((list) => list.some((other) => Buffer.from(der(one)).equals(other))).length;

test("announcements that nobody signed neither cost handshakes nor put a waiting drop off", async (t) => {
  const world = await online(t);
  await world.pushed({ ca: [second], drop: ["old"] });
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
  const world = await online(t);
  world.unreadable = second;
  await world.pushed({ ca: [second] });
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
