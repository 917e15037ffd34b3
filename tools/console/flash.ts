// The page "Flash a board". Button and dialogs come from ESP Web Tools.

import { BOARDS } from "../boards.js";
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
  by("boards").textContent =
    `Boards with ${manifest.builds.length === 1 ? "this chip" : "these chips"}: ${boardsFor(manifest).join(", ")}.`;
  by("boards").hidden = boardsFor(manifest).length === 0;
  by("commands").append(...esptoolCommands(manifest).map((line) => h("pre", {}, line)));
  for (const id of ["install", "command"]) by(id).hidden = false;
  guard(manifest);
  helpAlong();
} else {
  by("firmware").append(
    "There is no firmware to flash yet. Build it with ",
    h("code", {}, "mote esp32 --web DIR"),
    ", and start the platform with ",
    h("code", {}, "--flash-page DIR"),
    ".",
  );
}

function boardsFor({ builds }: Manifest): string[] {
  const chips = builds.map(({ chipFamily }) => chipFamily.toLowerCase().replace("-", ""));
  return BOARDS.filter(({ chip }) => chips.includes(chip)).map(({ title }) => title);
}

/** A board with another partition table must be erased. Its table is known by its version only. */
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

const AWAY =
  "The port went away: a C3, C6 or S3 takes its own USB along at a reset. Close the dialog (reload this page if it does not close), and choose the port once it is back, perhaps by another name. If it stays away, plug the board in again.";
const BACK = 'A port is back: "Connect a board" has it.';

/** Advice for errors of the dialogs, which say little and cover this page. */
function helpAlong(): void {
  const { serial } = navigator as Navigator & { serial?: EventTarget };
  const say = (text: string): void => {
    by("port").textContent = text;
    by("port").hidden = false;
  };
  serial?.addEventListener("disconnect", () => say(AWAY));
  serial?.addEventListener("connect", () => {
    if (by("port").textContent === AWAY) say(BACK);
  });
  const seen = new MutationObserver((changes) => {
    const closed = changes.flatMap(({ removedNodes }) => [...removedNodes]).find(isDialog);
    // One that leads to the device came to its end.
    if (closed && !closed.shadowRoot?.querySelector("a[href]"))
      (by("help") as HTMLDetailsElement).open = true;
  });
  seen.observe(document.body, { childList: true });
}

const isDialog = (node: Node): node is Element => (node as Element).localName === "ewt-install-dialog";
