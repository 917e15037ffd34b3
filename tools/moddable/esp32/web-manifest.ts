// The manifest of ESP Web Tools (esphome.github.io/esp-web-tools): what a page flashes, and where. Both the page and the build read it.
/** Of what the page shows before it writes. */
export interface Firmware {
  readonly name: string;
  readonly version: string;
}

export interface Manifest extends Firmware {
  readonly builds: readonly {
    readonly chipFamily: string;
    readonly parts: readonly { readonly path: string; readonly offset: number }[];
  }[];
}

export function isManifest(value: unknown): value is Manifest {
  const { name, version, builds } = (value ?? {}) as Partial<Manifest>;
  return (
    typeof name === "string" && typeof version === "string" && Array.isArray(builds) && builds.length > 0
  );
}

/** One a chip: what esptool writes where. */
export function esptoolCommands({ builds }: Manifest): string[] {
  return builds.map(({ chipFamily, parts }) => {
    const chip = chipFamily.toLowerCase().replace("-", "");
    const words = parts.map(({ path, offset }) => `0x${offset.toString(16)} ${path}`);
    return `esptool --chip ${chip} write-flash ${words.join(" ")}`;
  });
}
