// "Flash a board": what there is to flash, and how without this page. The button and its dialogs are ESP Web Tools'.

import { esptoolCommands, isManifest } from "../moddable/esp32/web-manifest.js";
import { h } from "./dom.js";

const by = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;

const answer = await fetch("/flash/firmware/manifest.json");
const manifest: unknown = answer.ok ? await answer.json().catch(() => undefined) : undefined;
if (isManifest(manifest)) {
  const chips = manifest.builds.map(({ chipFamily }) => chipFamily).join(", ");
  by("firmware").textContent = `${manifest.name} ${manifest.version}, for ${chips}.`;
  by("commands").append(...esptoolCommands(manifest).map((line) => h("pre", {}, line)));
  for (const id of ["install", "command"]) by(id).hidden = false;
} else {
  by("firmware").append(
    "There is no firmware to flash yet. Build it with ",
    h("code", {}, "mote esp32 --web DIR"),
    ", and start the platform with ",
    h("code", {}, "--flash-page DIR"),
    ".",
  );
}
