// Writes a folder with a static page that flashes boards by ESP Web Tools
// (esphome.github.io/esp-web-tools). The page loads nothing from elsewhere.
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { builtFile } from "../../project.js";
import { SdkError } from "../sdk.js";
import type { Flashable, Manifest } from "./firmware.js";
import { TABLE_OFFSETS } from "./partition-table.js";

/**
 * Writes page, manifest and parts of one build per chip. Parts stay apart: a merged image would
 * overwrite the stored data. Throws SdkError, before it writes, for a folder whose program has
 * another partition table: boards flashed from there would lose their data in an update.
 */
export function writeWebPage(programs: readonly Flashable[], directory: string): void {
  const [{ name, version }] = programs as [Flashable];
  const chips = programs.map(({ chip }) => chip);
  const families = chips.map(familyOf);
  if (new Set(chips).size < chips.length)
    throw new SdkError(`found several builds for one chip (${chips.join(", ")}): choose one with --target`);
  for (const { chip, parts } of programs) checkTable(chip, parts, directory);
  const builds = programs.map(({ chip, parts }, i) => {
    mkdirSync(join(directory, chip), { recursive: true });
    return {
      chipFamily: families[i]!,
      parts: parts.map(({ offset, file }) => {
        const path = `${chip}/${basename(file)}`;
        cpSync(file, join(directory, path));
        return { path, offset };
      }),
    };
  });
  // Asked of the owner: without erasing, token and points stay. A board offers Improv within 15 s.
  const how = { new_install_prompt_erase: true, new_install_improv_wait_time: 15 };
  const manifest = { name, version, ...how, builds } satisfies Manifest;
  writeFileSync(join(directory, "manifest.json"), `${JSON.stringify(manifest, null, 2)}\n`);
  writeFileSync(join(directory, "index.html"), pageOf(manifest));
  cpSync(builtFile("tools/esp-web-tools"), join(directory, "esp-web-tools"), { recursive: true });
}

function checkTable(chip: string, parts: Flashable["parts"], directory: string): void {
  const table = parts.find(({ offset }) => TABLE_OFFSETS.includes(offset))?.file;
  const before = table && join(directory, chip, basename(table));
  if (!before || !existsSync(before) || readFileSync(before).equals(readFileSync(table))) return;
  throw new SdkError(
    `the program in ${join(directory, chip)} has another partition table. Write to a new folder, and erase boards that were flashed from this one`,
  );
}

/** As ESP Web Tools writes it: esp32c3 is ESP32-C3. */
export function familyOf(chip: string): string {
  const [, variant] = /^esp32(\w*)$/.exec(chip) ?? [];
  if (variant === undefined) throw new SdkError(`a web page cannot flash ${chip}`);
  return variant === "" ? "ESP32" : `ESP32-${variant.toUpperCase()}`;
}

const escaped = (text: string): string => text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);

const pageOf = ({ name, version, builds }: Manifest): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>Flash ${escaped(name)}</title>
    <style>body { font: 1rem system-ui; max-width: 40rem; margin: 2rem auto; padding: 0 1rem }</style>
  </head>
  <body>
    <h1>Flash ${escaped(name)} ${escaped(version)}</h1>
    <p>For ${builds.map(({ chipFamily }) => chipFamily).join(", ")}. Connect the board over USB. An update keeps
    Wi-Fi, token and undelivered points, unless you choose to erase the device.</p>
    <esp-web-install-button manifest="manifest.json">
      <button slot="activate">Flash</button>
      <p slot="unsupported">This browser cannot use serial ports. Use Chrome or Edge on a computer.</p>
      <p slot="not-allowed">Open this page over https, or from http://localhost.</p>
    </esp-web-install-button>
    <script type="module" src="esp-web-tools/install-button.js"></script>
  </body>
</html>
`;
