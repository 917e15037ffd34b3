import type { Clock } from "../common/clock.js";
import type { Ids } from "../common/ids.js";
import { Refused } from "../common/refused.js";
import { type Journal, NO_JOURNAL } from "../journal.js";
import { type Algorithm, checksum } from "./checksum.js";

export interface PackageFields {
  title: string;
  version: string;
  tag: string | undefined;
  profileId: string | undefined;
  /** Where the file is, if not on the platform. */
  url: string | undefined;
}

export interface OtaPackage extends PackageFields {
  readonly id: string;
  readonly createdTime: number;
  bytes: Uint8Array | undefined;
  fileName: string | undefined;
  contentType: string | undefined;
  algorithm: Algorithm | undefined;
  checksum: string | undefined;
  size: number | undefined;
}

export interface PackageFile {
  bytes: Uint8Array;
  fileName: string;
  contentType: string;
  algorithm: Algorithm;
  /** Must be right, if given. */
  checksum: string | undefined;
}

/** All of a package but the bytes of its file. */
export type PackageRecord = Omit<OtaPackage, "bytes">;

const MOST = 1_000;

/** Firmware packages. Title and version together are unique. */
export class Packages {
  readonly #byId = new Map<string, OtaPackage>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #journal: Journal;

  constructor(clock: Clock, ids: Ids, journal: Journal = NO_JOURNAL) {
    this.#clock = clock;
    this.#ids = ids;
    this.#journal = journal;
  }

  /** One that was kept; false if its file is not the one that came. */
  restore(record: PackageRecord, bytes: Uint8Array | undefined): boolean {
    if (bytes && (!record.algorithm || checksum(record.algorithm, bytes) !== record.checksum)) return false;
    this.#byId.set(record.id, { ...record, bytes });
    return true;
  }

  get(id: string): OtaPackage | undefined {
    return this.#byId.get(id);
  }

  /** The newest first. */
  list(): OtaPackage[] {
    return [...this.#byId.values()].reverse();
  }

  /** Throws Refused. */
  create(fields: PackageFields): OtaPackage {
    if (fields.title.trim() === "") throw new Refused("OtaPackage title should be specified!");
    if (fields.version.trim() === "") throw new Refused("OtaPackage version should be specified!");
    const same = this.list().some(
      ({ title, version }) => title === fields.title && version === fields.version,
    );
    if (same) throw new Refused("OtaPackage with such title and version already exists!");
    if (this.#byId.size >= MOST) throw new Refused("OtaPackages limit reached!");
    const { url } = fields;
    const file = { bytes: undefined, fileName: undefined, contentType: undefined };
    const check = { algorithm: undefined, checksum: undefined, size: undefined };
    const created = {
      ...fields,
      url,
      ...file,
      ...check,
      id: this.#ids.uuid(),
      createdTime: this.#clock.now(),
    };
    this.#byId.set(created.id, created);
    this.#save(created);
    return created;
  }

  /** Of a file elsewhere the platform knows what it is given. */
  describe(target: OtaPackage, check: Pick<OtaPackage, "algorithm" | "checksum" | "size">): void {
    Object.assign(target, check);
    this.#save(target);
  }

  /** Throws Refused. */
  upload(target: OtaPackage, file: PackageFile): void {
    if (target.url !== undefined) throw new Refused("Can't upload data to the otaPackage with url!");
    if (target.bytes) throw new Refused("Updating otaPackage data is prohibited!");
    if (file.bytes.length === 0) throw new Refused("OtaPackage data should be specified!");
    const computed = checksum(file.algorithm, file.bytes);
    if (file.checksum && file.checksum !== computed) throw new Refused("Wrong otaPackage file!");
    Object.assign(target, file, { checksum: computed, size: file.bytes.length });
    this.#save(target);
    this.#journal.put(["package", target.id, "file"], Buffer.from(file.bytes).toString("base64"));
  }

  delete(target: OtaPackage): void {
    this.#byId.delete(target.id);
    this.#journal.put(["package", target.id], undefined);
  }

  #save(target: OtaPackage): void {
    const { bytes: _, ...record } = target;
    this.#journal.put(["package", target.id, "record"], record);
  }
}

export function hasData({ bytes, url }: OtaPackage): boolean {
  return bytes !== undefined || url !== undefined;
}
