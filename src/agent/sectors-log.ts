// Writing and reading of sectors one at a time: what `Sectors` builds its queue on.
import type { Blocks } from "../port.js";
import { lengthOf, MARK_BYTES, putMark, type Records, soundLength, whole } from "./record.js";
import { emptyState, HEADER_BYTES, isBlank, putHeader, type SectorState } from "./sectors-header.js";
import { SectorMap } from "./sectors-map.js";
import { recover } from "./sectors-recover.js";

const LEAST_SECTOR = 512;
/** After a failed write. */
const AGAIN_MS = 60_000;

/** An append-only log: the newest sector is written, all are read. It knows nothing of which points wait. */
export class SectorLog {
  readonly map: SectorMap;
  readonly state: SectorState = emptyState();
  /** The sector loaded last. */
  readonly page: Records;
  /** False: nothing more is written. What is there may still be read. */
  usable = false;
  /** Where the next record goes in the newest sector. */
  tail = 0;
  private readonly _tell: (line: string) => void;
  private readonly _mark = new Int32Array(MARK_BYTES / 4);
  private _loaded = 0;
  private _failed = false;
  private _triedAt = Number.NEGATIVE_INFINITY;
  /** The records of `page` in this range were found sound since it was loaded: no need to look at their checksum again. */
  private _soundFrom = 0;
  private _soundTo = 0;

  constructor(blocks: Blocks, tell: (line: string) => void) {
    this.map = new SectorMap(blocks);
    this._tell = tell;
    const fit = blocks.sectorSize >= LEAST_SECTOR && blocks.sectorSize % 4 === 0 && this.map.count >= 2;
    const bytes = new Uint8Array(fit ? blocks.sectorSize : 0);
    this.page = { bytes, words: new Int32Array(bytes.buffer) };
  }

  /** Bytes left in the newest sector. */
  get room(): number {
    return this.map.size - this.tail;
  }

  /** Finds what is there. Returns the sector to read from, or undefined if the blocks can't be used. */
  open(): number | undefined {
    if (this.page.bytes.length === 0) {
      this._tell("the blocks are too small for a durable queue: points are kept in memory only");
      return undefined;
    }
    const found = recover(this.map, this.page, this.state);
    if (found.kind === "ready") {
      this.usable = true;
      if (found.strange) this._tell("the blocks hold something that is no durable queue: it begins empty");
      this.tail = found.end;
      this._loaded = this.state.sequence;
      this._soundTo = 0;
      return found.oldest;
    }
    if (found.kind === "failed")
      this._tell("the durable queue can't be read: points are kept in memory only");
    else
      this._tell(
        "the durable queue was written by another version: kept, not used; points are kept in memory only",
      );
    return undefined;
  }

  /** After a failed write the next sector is tried: at once, then every minute. */
  retry(now: number): void {
    if (!this._failed || this.usable || now - this._triedAt < AGAIN_MS) return;
    this._triedAt = now;
    this.usable = true;
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
    if (!this.map.blocks.write(this.map.at(sequence) + this.tail, bytes)) return this._fail();
    // What is written now is in memory: it is not soon read.
    if (this._loaded === sequence) this._loaded = 0;
    this.tail += bytes.length;
    return true;
  }

  /** Writes a mark, if there is room for it; else false. */
  mark(kind: number, number: number): boolean {
    if (this.room < MARK_BYTES) return false;
    putMark(this._mark, this.state.sequence, kind, number);
    return this.write(new Uint8Array(this._mark.buffer));
  }

  /** Erases the sector behind the newest, which becomes the newest. Its header holds the whole state. */
  openNext(): boolean {
    const { state } = this;
    const { blocks, header } = this.map;
    const at = this.map.at(state.sequence + 1);
    state.sequence++;
    putHeader(header, state);
    if (!blocks.erase(at) || !blocks.write(at, header)) {
      state.sequence--;
      return this._fail();
    }
    this.tail = HEADER_BYTES;
    if (this._failed) this._tell("the durable queue is written again");
    this._failed = false;
    return true;
  }

  /** Erases every sector that was used, whoever wrote it, the newest last: it says that nothing waits in the others. False if one stays. */
  erase(): boolean {
    const { blocks, count, size } = this.map;
    const newest = this.map.at(this.state.sequence);
    const page = this.page.bytes;
    let gone = true;
    for (let i = 1; i <= count; i++) {
      const at = (newest + i * size) % (count * size);
      // An erase that was cut may have left nothing but what stood behind the header.
      if (this.map.read(at, page) && (isBlank(page) || blocks.erase(at))) continue;
      gone = false;
      this._fail();
    }
    this.state.sequence = 0;
    this.map.anchor(0, count - 1);
    this.tail = size;
    this._loaded = 0;
    this._soundTo = 0;
    return gone;
  }

  /** Nothing is appended behind what may be half a record. */
  private _fail(): false {
    this.usable = false;
    this.tail = this.map.size;
    if (!this._failed) this._tell("the durable queue can't be written: points are kept in memory only");
    this._failed = true;
    return false;
  }
}
