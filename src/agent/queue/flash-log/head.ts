import { HEADER_BYTES, type SectorState } from "./sector-header.js";
import type { SectorMap } from "./sector-map.js";

/** Where the first point that waits lies, or what is before it: sector, position, number. */
export class SectorsHead {
  sequence = 1;
  at = HEADER_BYTES;
  number = 0;
  private readonly _map: SectorMap;
  private readonly _state: SectorState;

  constructor(map: SectorMap, state: SectorState) {
    this._map = map;
    this._state = state;
  }

  set(sequence: number, at: number, number: number): void {
    this.sequence = sequence;
    this.at = at;
    this.number = number;
  }

  /** What was sent from memory may have been the last of its sector. */
  pass(): void {
    const { confirmed, sequence } = this._state;
    for (let next = this.sequence + 1; next <= sequence; next++) {
      const first = this._map.firstIn(next);
      if (first === undefined) continue;
      if (first > confirmed) return;
      this.set(next, HEADER_BYTES, first);
    }
  }

  /** The next sector behind `sequence` that has a header: one that was set aside has none of this round. */
  behind(sequence: number): number | undefined {
    for (let next = sequence + 1; next <= this._state.sequence; next++)
      if (this._map.firstIn(next) !== undefined) return next;
    return undefined;
  }

  /** The place of the sector that will be number `next` holds nothing that waits. */
  frees(next: number): boolean {
    const { confirmed } = this._state;
    const before = next - this._map.count;
    if (this._state.next === confirmed || before < this.sequence) return true;
    const behind = this.behind(before);
    const first = behind === undefined ? undefined : this._map.firstIn(behind);
    if (behind === undefined || first === undefined || first > confirmed) return false;
    this.set(behind, HEADER_BYTES, first);
    return true;
  }
}
