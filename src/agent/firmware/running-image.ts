// The checksum of the running image. Only an update teaches it: an image that was flashed has none.
import type { Host } from "../../port.js";
import { readStored, writeStored } from "../../store.js";

const KEY = "checksums";
/** One for each slot. */
const MOST = 2;

export class RunningImage {
  private readonly _host: Host;

  constructor(host: Host) {
    this._host = host;
  }

  /** As in `fw_checksum`; empty if unknown. */
  get checksum(): string {
    return this._known().split(" ")[1] ?? "";
  }

  /** Whether `verified` (algorithm, space, checksum) is this image; undefined if unknown. */
  is(verified: string): boolean | undefined {
    const known = this._known();
    return known === "" ? undefined : known === verified;
  }

  /** This image is the verified one. Its predecessor stays known, for a rollback. */
  learn(verified: string): void {
    const image = this._host.slot.image?.();
    if (image === undefined || this.is(verified)) return;
    const others = this._stored().filter(([other]) => other !== image);
    writeStored(this._host, KEY, [[image, verified], ...others].slice(0, MOST));
  }

  private _known(): string {
    const image = this._host.slot.image?.();
    if (image === undefined) return "";
    const entry = this._stored().find(([known]) => known === image);
    return entry?.[1] ?? "";
  }

  private _stored(): [string, string][] {
    const stored = readStored(this._host, KEY);
    if (!Array.isArray(stored)) return [];
    return stored.filter(isEntry) as unknown as [string, string][];
  }
}

const isEntry = (entry: unknown): boolean =>
  Array.isArray(entry) && typeof entry[0] === "string" && typeof entry[1] === "string";
