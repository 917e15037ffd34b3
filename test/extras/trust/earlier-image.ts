// The trust of an image before dropped CAs were all remembered, frozen as it was: what it reads of a record, and what it writes.
import { createHash } from "node:crypto";
import type { Renewal } from "../../../extras/trust/trust.js";
import type { InitialTrust } from "../../../extras/trust/trusted.js";
import type { Host } from "../../../src/port.js";

const MOST_DROPPED = 16;
type TrustHost = Pick<Host, "store" | "encode" | "decode" | "clock">;

interface Kept {
  by: string;
  sequence: number;
  digest: string;
  added: [slot: number, sha256: string][];
  dropped: string[];
  waiting: string[];
}

const idOf = (der: Uint8Array): string => createHash("sha256").update(der).digest("hex");
const isMeant = (drop: readonly string[], id: string): boolean =>
  drop.some((what) => (id === "built-in" || what === "built-in" ? id === what : id.startsWith(what)));

export class EarlierImage {
  readonly #host: TrustHost;
  readonly #given: readonly Uint8Array[];
  readonly #by: string;
  kept: Kept;

  constructor(host: TrustHost, given: readonly Uint8Array[], isCommissioned: boolean) {
    this.#host = host;
    this.#given = given;
    const ids = isCommissioned ? given.map(idOf) : [];
    this.#by = ids.length > 0 ? idOf(host.encode(ids.join())).slice(0, 16) : "";
    this.kept = this.#read();
  }

  /** All that it trusts (DER). */
  get trusted(): Uint8Array[] {
    const { added, dropped } = this.kept;
    const base = this.#given.filter((der) => !isMeant(dropped, idOf(der)));
    const more = added.flatMap(([slot]) => this.#host.store.get(`trust-${slot}`) ?? []);
    return base.concat(more.filter((der) => !base.some((one) => idOf(one) === idOf(der))));
  }

  take(sequence: number, fresh: readonly Uint8Array[], waiting: readonly string[]): boolean {
    const { dropped, ...kept } = this.kept;
    const isBack = (what: string): boolean => fresh.some((der) => isMeant([what], idOf(der)));
    return this.#write(
      { ...kept, sequence, dropped: dropped.filter((what) => !isBack(what)), waiting: waiting.slice() },
      fresh,
    );
  }

  drop(): boolean {
    const { added, dropped, waiting } = this.kept;
    const left = added.filter(([, id]) => !waiting.includes(id));
    return this.#write({ ...this.kept, added: left, dropped: dropped.concat(waiting), waiting: [] }, []);
  }

  #read(): Kept {
    const { store, decode } = this.#host;
    const bytes = store.get("trust");
    const text = bytes?.[0] === 1 ? decode(bytes.subarray(1)) : undefined;
    const stored = (text ? JSON.parse(text) : {}) as Partial<Kept>;
    const { by = "", sequence = 0, digest = "", added = [], dropped = [], waiting = [] } = stored;
    if (by !== this.#by)
      return {
        by: this.#by,
        sequence: Math.max(0, sequence - 1),
        digest: "",
        added: [],
        dropped: [],
        waiting: [],
      };
    const isWhole = ([slot, id]: [number, string]): boolean => {
      const der = store.get(`trust-${slot}`);
      return der !== undefined && idOf(der) === id;
    };
    return { by, sequence, digest, added: added.filter(isWhole), dropped, waiting };
  }

  #write(kept: Kept, fresh: readonly Uint8Array[]): boolean {
    const { store, encode } = this.#host;
    const added = kept.added.slice();
    for (const der of fresh) {
      const slot = [1, 2, 3].find((one) => !added.some(([used]) => used === one));
      if (slot === undefined || !store.set(`trust-${slot}`, der)) return false;
      added.push([slot, idOf(der)]);
    }
    const value = JSON.stringify({ ...kept, added, dropped: kept.dropped.slice(-MOST_DROPPED) });
    if (!store.set("trust", encode(`\u0001${value}`))) return false;
    for (const slot of [1, 2, 3])
      if (!added.some(([used]) => used === slot) && store.get(`trust-${slot}`)) store.delete(`trust-${slot}`);
    this.kept = this.#read();
    return true;
  }
}

/** It connects by what it trusts, and takes no announcement. */
export const earlierTrust = (
  host: TrustHost,
  { authorities, isCommissioned, open }: InitialTrust,
): Renewal => ({
  open: (...connection) => open(new EarlierImage(host, authorities, isCommissioned).trusted)(...connection),
  attach: () => {},
});
