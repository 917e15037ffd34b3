// A board's platform over the years: its authority is replaced while the board runs, and while its power goes.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from "node:crypto";
import { KEY } from "../../../extras/trust/announcement.js";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, piecesOf, type Wanted } from "../../../tools/cli/commands/trust/announce.js";
import { type TrustState, trustOf } from "../../../tools/cli/commands/trust/targets.js";
import { HOST_ADDRESS } from "../../../tools/moddable/esp32/emulator.js";
import { Authorities, der, identityOf } from "../../extras/trust/x509/authority.js";
import { changes, type Shown } from "../../extras/trust/x509/changes.js";
import { Dice } from "../../simulation/dice.js";
import { Bench, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { authority, DEVICE, TITLE } from "../rig.js";

/** A board that was refused tries again meanwhile. */
const REFUSED_MS = 40_000;
/** Two handshakes, and the writes. */
const TAKEN_MS = 90_000;
/** From an announcement to its last write, as far as seen. */
const CHANGE_MS = 8000;

export const TRUST: Case = {
  name: "trust",
  title:
    "its platform's authority is replaced, with power losses in it: never shut out, and no stranger is taken",
  async run({ seed, quick, say }) {
    using made = new Authorities();
    const key = createPrivateKey(authority().caKey);
    const { publicKey } = signImage(key, new Uint8Array());
    const firmware = { title: TITLE, version: "1.0.0", publicKey };
    await using bench = await Bench.open(
      "trust",
      { program: "trust-app", secure: true, more: { firmware } },
      "soft",
    );
    const { ca, caKey } = authority();
    const replaced = changes(made, `IP:${HOST_ADDRESS}`, made.adopt(ca, caKey));
    const owner = new Owner(bench, key);
    await replace(owner, replaced);
    const handshakes = await bench.memory();
    const losses = await loseTheirPower(owner, replaced, new Dice(seed), quick ? 4 : 20, say);
    return { losses, ...handshakes };
  },
};

/** Who runs the platform, and signs the firmware. */
class Owner {
  readonly bench: Bench;
  readonly #key: KeyObject;

  constructor(bench: Bench, key: KeyObject) {
    this.bench = bench;
    this.#key = key;
  }

  /** The server has another certificate. Connections that are open stay so. */
  shows({ chain }: Shown): void {
    this.bench.localPlatform.tls.setSecureContext(identityOf(chain));
  }

  async announce(wanted: Omit<Wanted, "product">, key = this.#key): Promise<number> {
    const { attributes } = this.bench.tenant;
    const id = await this.bench.needId();
    const { [KEY]: before } = await attributes.get(id, "SHARED_SCOPE", [KEY]);
    const made = announce(before, { product: TITLE, ...wanted }, key);
    for (const [name, piece] of Object.entries(piecesOf(made, wanted.certificates)))
      await attributes.set(id, "SHARED_SCOPE", { [name]: piece });
    await attributes.set(id, "SHARED_SCOPE", { [KEY]: made });
    return made.sequence;
  }

  async until(what: string, is: (state: TrustState) => boolean): Promise<TrustState> {
    let last: TrustState | undefined;
    await this.bench.until(TAKEN_MS, what, async () => {
      last = await trustOf(this.bench.tenant, { id: await this.bench.needId(), name: DEVICE });
      return last !== undefined && is(last);
    });
    return last!;
  }

  async taken(sequence: number): Promise<TrustState> {
    return await this.until("the announcement is taken", (state) => state.sequence === sequence);
  }

  async restart(): Promise<void> {
    await this.bench.board.off();
    this.bench.board.on();
  }
}

/** Added, shown, the one before dropped: then neither it nor a stranger is taken. */
async function replace(owner: Owner, { second, shown }: ReturnType<typeof changes>): Promise<void> {
  const { bench } = owner;
  await bench.online();
  const foreign = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  await owner.announce({ certificates: [der(second)], drop: [] }, foreign);
  const { refused, trusts } = await owner.until("a foreign one is refused", (state) => !!state.refused);
  check(trusts.length === 1, `${refused?.reason}, but it trusts ${trusts.length}`);
  const added = await owner.taken(await owner.announce({ certificates: [der(second)], drop: [] }));
  check(added.trusts.length === 2, `trusts ${added.trusts.length}`);
  owner.shows(shown.ofSecond);
  await owner.restart();
  await bench.seen();
  await owner.announce({ certificates: [], drop: ["old"] });
  await owner.until(
    "the old one is dropped",
    (state) => state.trusts.length === 1 && state.waiting.length === 0,
  );
  for (const stranger of [shown.ofFirst, shown.ofStranger]) {
    owner.shows(stranger);
    await owner.restart();
    const sent = await bench.seen(REFUSED_MS).then(
      () => true,
      () => false,
    );
    check(!sent, "a server was taken that it must refuse");
  }
  owner.shows(shown.crossSigned);
  await owner.restart();
  await bench.seen();
}

/** Two authorities replace each other, each time the power goes at a moment of the change. How often it was taken at once. */
async function loseTheirPower(
  owner: Owner,
  { first, second, shown }: ReturnType<typeof changes>,
  dice: Dice,
  count: number,
  say: (line: string) => void,
): Promise<number> {
  const turns = [
    { to: first, shows: shown.ofFirst },
    { to: second, shows: shown.ofSecond },
  ];
  for (let n = 0; n < count; n++) {
    const { to, shows } = turns[n % 2]!;
    const lost = async (sequence: number, what: string): Promise<void> => {
      const ms = dice.below(CHANGE_MS);
      await new Promise((go) => setTimeout(go, ms));
      await owner.restart();
      await owner.bench.seen(ONLINE_MS);
      const { trusts } = await owner.taken(sequence);
      say(`power loss ${ms} ms after ${what}: online, trusts ${trusts.length}`);
    };
    await lost(await owner.announce({ certificates: [der(to)], drop: [] }), "an authority was announced");
    owner.shows(shows);
    await lost(await owner.announce({ certificates: [der(to)], drop: ["old"] }), "the other was dropped");
    await owner.until("one is left", ({ trusts, waiting }) => trusts.length === 1 && waiting.length === 0);
  }
  return 2 * count;
}
