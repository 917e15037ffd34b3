// Writing and reading of sectors one at a time: what `Sectors` builds its queue on.
import type { Blocks } from "../../../port.js";
import { lengthOf, putStatus, type Records, STATUS_BYTES, soundLength, whole } from "../log-entry.js";
import { SectorsAside } from "./failing-sectors.js";
import { recover } from "./recover.js";
import { emptyState, HEADER_BYTES, isBlank, putHeader, type SectorState } from "./sector-header.js";
import { SectorMap } from "./sector-map.js";
import { UnwrittenStatus } from "./unwritten-status.js";
import type { LogListener } from "./watcher.js";

const LEAST_SECTOR = 512;
/** While writes fail, a sector is erased so often at most: each erase wears it. */
const ERASE_MS = 60_000;

/** An append-only log: the newest sector is written, all are read. It knows nothing of which points wait. */
export class SectorLog {
  readonly map: SectorMap;
  readonly state: SectorState = emptyState();
  /** The sector loaded last. */
  readonly page: Records;
  /** False: nothing is written until the next `retry`. What is there may still be read. */
  usable = false;
  /** A write or an erase failed, and none has succeeded since. */
  failing = false;
  /** The host could not read the sectors yet: nothing is written. */
  unread = false;
  /** `state` holds what no record says: only the next header will. */
  unsaid = false;
  /** Status entries that could not be written. */
  readonly unwritten = new UnwrittenStatus();
  /** Where the next record goes in the newest sector. */
  tail = 0;
  /** While writes fail nothing is erased before. */
  eraseAt = Number.NEGATIVE_INFINITY;
  private readonly _listener: LogListener;
  private readonly _aside: SectorsAside;
  private readonly _status = new Int32Array(STATUS_BYTES / 4);
  private _loaded = 0;
  /** Where a write to the newest sector failed; what follows may be blank still. -1: none did. */
  private _failedTail = -1;
  /** The sector here was erased, and its header failed. -1: none. */
  private _erased = -1;
  private _now = 0;
  /** The try under way may erase. */
  private _mayErase = false;
  /** The records of `page` in this range were found sound since it was loaded: no need to look at their checksum again. */
  private _soundFrom = 0;
  private _soundTo = 0;

  constructor(blocks: Blocks, listener: LogListener) {
    this.map = new SectorMap(blocks);
    this._listener = listener;
    this._aside = new SectorsAside(this.map.count);
    const fit = blocks.sectorSize >= LEAST_SECTOR && blocks.sectorSize % 4 === 0 && this.map.count >= 2;
    const bytes = new Uint8Array(fit ? blocks.sectorSize : 0);
    this.page = { bytes, words: new Int32Array(bytes.buffer) };
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this.map.size - this.tail;
  }

  /** Finds what is there. Returns the sector to read from, or undefined if the blocks can't be used. Once more after what the host could not read. */
  open(): number | undefined {
    if (this.page.bytes.length === 0) return this._none("the blocks are too small for a durable queue:");
    const found = recover(this.map, this.page, this.state);
    if (found.kind === "ready") {
      this.usable = true;
      this.unread = false;
      if (found.strange)
        this._listener.log("the blocks hold something that is no durable queue: it begins empty");
      this.tail = found.end;
      this._loaded = this.state.sequence;
      this._soundTo = 0;
      this.unwritten.none(this.state.confirmed);
      return found.oldest;
    }
    const isKnown = this.unread && found.kind === "failed";
    this.unread = found.kind === "failed";
    const why = this.unread ? "can't be read:" : "was written by another version: kept, not used;";
    return isKnown ? undefined : this._none(`the durable queue ${why}`);
  }

  private _none(why: string): undefined {
    this._listener.log(`${why} points are kept in memory only`);
  }

  /** After a failure: what follows may be tried once more. The newest sector goes on where a write failed if all is blank there; else comes the next. `last`: an erase is worth its wear. */
  retry(now: number, last: boolean): void {
    if (!this.failing || this.usable) return;
    this._now = now;
    this._mayErase = last || now >= this.eraseAt;
    this.usable = true;
    const { sequence } = this.state;
    const done = this.unsaid || this._aside.has(this.map.at(sequence));
    if (this._failedTail < 0 || (done && this._mayErase)) return;
    this._loaded = 0;
    if (!this.load(sequence) || !isBlank(this.page.words, this._failedTail)) return;
    this.tail = this._failedTail;
    // What was dealt with meanwhile must not come back. The count of what never was on flash comes with the next header.
    if (this.unsaid && !this.unwritten.write(this)) this.tail = this.map.size;
  }

  /** What is in memory only is so because flash fails, to write or to read. */
  get broken(): boolean {
    return this.failing || this.unread;
  }

  /** Flash does not have all that is known. */
  get behind(): boolean {
    return this.broken || this.unsaid;
  }

  /** The sequence number of the sector that is opened next: those set aside are passed over. */
  get next(): number {
    let sequence = this.state.sequence + 1;
    while (this._aside.has(this.map.at(sequence))) sequence++;
    return sequence;
  }

  /** Brings sector `sequence` to `page`. False if the host could not read it. */
  load(sequence: number): boolean {
    if (this._loaded === sequence) return true;
    this._loaded = 0;
    if (!this.map.read(this.map.at(sequence), this.page.bytes)) return false;
    this._loaded = sequence;
    this._soundTo = 0;
    return true;
  }

  /** Where the records of sector `sequence` end at the latest. */
  limit(sequence: number): number {
    return sequence === this.state.sequence ? this.tail : this.map.size;
  }

  /** The length of the intact record at `at` in `page`, which holds sector `sequence`, its last word filled; 0 if there is none. */
  lengthAt(at: number, sequence: number): number {
    const { words } = this.page;
    if (at >= this._soundFrom && at < this._soundTo) return whole(lengthOf(words, at));
    const length = soundLength(words, at, this.limit(sequence), sequence);
    if (length === 0) return 0;
    if (at !== this._soundTo) this._soundFrom = at;
    this._soundTo = at + length;
    return length;
  }

  /** Writes records, for which there is `room`, to the newest sector. */
  write(bytes: Uint8Array): boolean {
    const { sequence } = this.state;
    const at = this.map.at(sequence);
    if (!this.map.blocks.write(at + this.tail, bytes)) return this._fail(at, this.tail);
    if (this.failing) this._heal();
    // What is written now is in memory: it is not soon read.
    if (this._loaded === sequence) this._loaded = 0;
    this.tail += bytes.length;
    return true;
  }

  /** Writes a status entry, if there is room for it; else false. */
  writeStatus(kind: number, number: number): boolean {
    if (this.room < STATUS_BYTES) return false;
    putStatus(this._status, this.state.sequence, kind, number);
    if (!this.write(new Uint8Array(this._status.buffer))) return false;
    return this.unwritten.written(kind, number);
  }

  /** Erases the next sector, which becomes the newest. Its header holds the whole state. */
  openNext(): boolean {
    const { state } = this;
    const { blocks, header } = this.map;
    const before = state.sequence;
    const sequence = this.next;
    const at = this.map.at(sequence);
    if (!this._erase(at)) return false;
    state.sequence = sequence;
    putHeader(header, state);
    if (!blocks.write(at, header)) {
      state.sequence = before;
      this._erased = at;
      return this._fail(at);
    }
    this._erased = -1;
    this._failedTail = -1;
    this.unsaid = false;
    this.unwritten.none(state.confirmed);
    this.tail = HEADER_BYTES;
    if (this.failing) this._heal();
    return true;
  }

  /** Erases every sector that was used, whoever wrote it, the newest last: it says that nothing waits in the others. False if one stays. */
  erase(): boolean {
    const { blocks, count, size } = this.map;
    const newest = this.map.at(this.state.sequence);
    const { bytes: page, words } = this.page;
    let gone = true;
    for (let i = 1; i <= count; i++) {
      const at = (newest + i * size) % (count * size);
      // An erase that was cut may have left nothing but what stood behind the header.
      if (this.map.read(at, page) && (isBlank(words) || blocks.erase(at))) continue;
      gone = false;
      this._fail(at);
    }
    this.state.sequence = 0;
    this.map.anchor(0, count - 1);
    this.tail = size;
    this._loaded = 0;
    this._soundTo = 0;
    if (gone && this.failing) {
      this.unsaid = false;
      this.usable = true;
      this._heal();
    }
    return gone;
  }

  /** Not while the last erase after a failure is less than a minute ago, unless the sector is blank anyway. */
  private _erase(at: number): boolean {
    if (!this.failing) return this.map.blocks.erase(at) || this._fail(at);
    const { bytes, words } = this.page;
    this._loaded = 0;
    if (this._erased === at && this.map.read(at, bytes) && isBlank(words)) return true;
    if (!this._mayErase) {
      this.usable = false;
      return false;
    }
    this._mayErase = false;
    this.eraseAt = this._now + ERASE_MS;
    return this.map.blocks.erase(at) || this._fail(at);
  }

  /** Nothing is appended behind what may be half a record. */
  private _fail(at: number, tail = this._failedTail): false {
    this._failedTail = tail;
    this.usable = false;
    this.tail = this.map.size;
    this._aside.failed(at);
    this.failing = true;
    this._listener.failed();
    return false;
  }

  private _heal(): void {
    this.failing = false;
    this._failedTail = -1;
    this._aside.worked();
    this._listener.healed();
  }
}
