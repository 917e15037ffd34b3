// "Flash a board": what there is to flash, and how without this page. The button and its dialogs are ESP Web Tools'.

import {
  type Board,
  esptoolCommands,
  isManifest,
  keepsItsData,
  type Manifest,
  versionsToErase,
} from "../moddable/esp32/web-manifest.js";
import { h } from "./dom.js";

const by = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

const answer = await fetch("/flash/firmware/manifest.json");
const manifest: unknown = answer.ok ? await answer.json().catch(() => undefined) : undefined;
if (isManifest(manifest)) {
  const chips = manifest.builds.map(({ chipFamily }) => chipFamily).join(", ");
  by("firmware").textContent = `${manifest.name} ${manifest.version}, for ${chips}.`;
  by("commands").append(...esptoolCommands(manifest).map((line) => h("pre", {}, line)));
  for (const id of ["install", "command"]) by(id).hidden = false;
  guard(manifest);
} else {
  by("firmware").append(
    "There is no firmware to flash yet. Build it with ",
    h("code", {}, "mote esp32 --web DIR"),
    ", and start the platform with ",
    h("code", {}, "--flash-page DIR"),
    ".",
  );
}

/** A board with another partition table must be erased. The page can't read its table: the version that it says by Improv has to do. */
function guard(wanted: Manifest): void {
  Object.assign(document.querySelector("esp-web-install-button") ?? {}, {
    overrides: {
      checkSameFirmware: (_: unknown, board: Board) => keepsItsData(wanted, board),
    },
  });
  const versions = versionsToErase(wanted);
  if (versions.length === 0) return;
  by("layout").textContent =
    `The partition table is another than that of ${wanted.name} ${versions.join(", ")}. A board with one of these is erased before it is written, and so is one that does not say what it runs: its Wi-Fi, its token and the points that wait are lost. Let it deliver them first.`;
  by("layout").hidden = false;
  by("commands").append(
    h("p", {}, `On a board with ${versions.join(", ")} first: `, h("code", {}, "esptool erase-flash")),
  );
}
