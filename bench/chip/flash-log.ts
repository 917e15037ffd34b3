// What the emulated flash says of itself (`-trace m25p80_page_program`, `m25p80_flash_erase`): each
// byte that is programmed, each sector that is erased. So it is the same for every program,
// whatever its way to the flash, and a byte that is written twice counts twice.

export interface Writes {
  readonly bytes: number;
  /** By the offset of its sector. */
  readonly erases: ReadonlyMap<number, number>;
}

export const FLASH_TRACE = ["-trace", "m25p80_page_program", "-trace", "m25p80_flash_erase"] as const;
const PROGRAM = /m25p80_page_program \S+ page program cur_addr=0x([0-9a-f]+)/;
const ERASE = /m25p80_flash_erase \S+ offset = 0x([0-9a-f]+), len = (\d+)/;
const SECTOR = 4096;
/** What makers of flash promise of a sector. */
const ERASES_OF_A_LIFE = 100_000;

/** Adds up what the emulator writes, line by line. */
export class FlashLog {
  #bytes = 0;
  readonly #erases = new Map<number, number>();
  #rest = "";

  take(text: string): void {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (PROGRAM.test(line)) this.#bytes++;
      const [, offset, length] = ERASE.exec(line) ?? [];
      if (offset === undefined) continue;
      const from = Number.parseInt(offset, 16);
      for (let at = from; at < from + Number(length); at += SECTOR)
        this.#erases.set(at, (this.#erases.get(at) ?? 0) + 1);
    }
  }

  get now(): Writes {
    return { bytes: this.#bytes, erases: new Map(this.#erases) };
  }
}

/** Sectors erased between two looks. */
export function erased(before: Writes, after: Writes): number {
  const sum = ({ erases }: Writes): number => [...erases.values()].reduce((all, one) => all + one, 0);
  return sum(after) - sum(before);
}

/** Years until `sectors` that take turns have been erased as often as they may be. */
export const yearsOfLife = (erasesADay: number, sectors: number): number =>
  erasesADay === 0 ? Number.POSITIVE_INFINITY : (ERASES_OF_A_LIFE * sectors) / erasesADay / 365;
