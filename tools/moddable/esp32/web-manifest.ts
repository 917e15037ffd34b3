// The manifest of ESP Web Tools (esphome.github.io/esp-web-tools): what a page flashes, and where.
// Both the page and the build read it.
/** Of what the page shows before it writes. */
export interface Firmware {
  readonly name: string;
  readonly version: string;
}

export interface Manifest extends Firmware {
  readonly builds: readonly {
    readonly chipFamily: string;
    readonly parts: readonly { readonly path: string; readonly offset: number }[];
    /** Which partition table it has: the beginning of a digest. */
    readonly partition_table?: string;
  }[];
  /**
   * Of each chip the versions that were written to this folder, by their partition table: what a
   * board with another one stored would be read at the wrong place, and a page can't read the
   * board's. ESP Web Tools does not know it; our page does.
   */
  readonly partition_tables?: Tables;
}

/** By chip and table: versions. */
export type Tables = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export function isManifest(value: unknown): value is Manifest {
  const { name, version, builds } = (value ?? {}) as Partial<Manifest>;
  return (
    typeof name === "string" && typeof version === "string" && Array.isArray(builds) && builds.length > 0
  );
}

/** Versions whose boards must be erased before this one, of one chip, or of all. */
export function versionsToErase({ builds, partition_tables = {} }: Manifest, chip?: string): string[] {
  const versions = builds
    .filter(({ chipFamily }) => chip === undefined || chipFamily === chip)
    .flatMap(({ chipFamily, partition_table }) =>
      Object.entries(partition_tables[chipFamily] ?? {})
        .filter(([table]) => table !== partition_table)
        .flatMap(([, others]) => others),
    );
  return [...new Set(versions)];
}

/** What a board says of itself by Improv. */
export interface Board {
  readonly firmware: string;
  readonly version: string;
  readonly chipFamily: string;
}

/** True if the board keeps its data: the page offers an update. Otherwise it erases. */
export const keepsItsData = (manifest: Manifest, { firmware, version, chipFamily }: Board): boolean =>
  firmware === manifest.name && !versionsToErase(manifest, chipFamily).includes(version);

/** One a chip: what esptool writes where. */
export function esptoolCommands({ builds }: Manifest): string[] {
  return builds.map(({ chipFamily, parts }) => {
    const chip = chipFamily.toLowerCase().replace("-", "");
    const words = parts.map(({ path, offset }) => `0x${offset.toString(16)} ${path}`);
    return `esptool --chip ${chip} write-flash ${words.join(" ")}`;
  });
}
