// Firmware: uploads and assigns an image, and shows the update as the device reports it.
import { allPages } from "../../operator/pages.js";
import type { OtaPackage } from "../../operator/shapes.js";
import { stateName } from "../../operator/update-state.js";
import { bytes, shown } from "../model/format.js";
import {
  ask,
  askToDelete,
  attempt,
  html,
  onSubmit,
  type Row,
  showToast,
  type TemplateResult,
  table,
} from "../ui.js";
import type { Part, Place } from "./part.js";

const RUNNING = ["QUEUED", "INITIATED", "DOWNLOADING", "DOWNLOADED", "VERIFIED", "UPDATING"];

export class Firmware implements Part {
  readonly title = "Firmware";
  readonly #place: Place;
  #packages: readonly OtaPackage[] = [];

  constructor(place: Place) {
    this.#place = place;
  }

  async read(): Promise<void> {
    const { device, session } = this.#place;
    const profileId = device.deviceProfileId?.id ?? "";
    this.#packages = await allPages((page) => session.operator.ota.fitting(profileId, { page }));
  }

  view(): TemplateResult {
    const [title, version, state, error, progress] = [
      ...["current_fw_title", "current_fw_version", "fw_state", "fw_error", "fw_progress"],
    ].map((key) => this.#reported(key));
    const isFailed = state === "FAILED";
    const running =
      version === undefined
        ? "The device has not reported its firmware."
        : `Runs ${shown(title)} ${shown(version)}.${this.#otherBytes()}`;
    const name =
      state === undefined ? "" : stateName(state, error) + (isFailed && error ? `: ${shown(error)}` : "");
    return html`<p>${running}</p>
      <p role="status" class=${isFailed ? "bad" : ""}>${name}</p>
      <progress max="100" aria-label="Download by the device" ?hidden=${state !== "DOWNLOADING"}
        .value=${typeof progress === "number" ? progress : 0}></progress>
      <form class="row" aria-label="Upload and assign" @submit=${onSubmit((values) => this.#upload(values as never))}>
        <label class="grow">Image<input name="file" type="file" required /></label>
        <label>Title<input name="title" required autocomplete="off" .defaultValue=${title === undefined ? "" : shown(title)} /></label>
        <label>Version<input name="version" required autocomplete="off" /></label>
        <button>Upload and assign</button>
      </form>
      <h3>Packages</h3>
      ${table(
        "Packages for the device",
        ["Package", "Size", "Actions"],
        this.#packages.map((one) => this.#row(one)),
        "No package with a file exists for the device's profile.",
      )}`;
  }

  #reported(key: string): unknown {
    return this.#place.latest[key]?.value;
  }

  /** A sentence if the device runs other bytes than the assigned package of the same name. */
  #otherBytes(): string {
    const { firmwareId } = this.#place.device;
    const assigned = this.#packages.find(({ id }) => id.id === firmwareId?.id);
    const isNamed =
      shown(this.#reported("current_fw_title")) === assigned?.title &&
      shown(this.#reported("current_fw_version")) === assigned.version;
    const running = shown(this.#reported("current_fw_checksum") ?? "").toLowerCase();
    if (!isNamed || !assigned?.checksum || running === assigned.checksum.toLowerCase()) return "";
    return running === ""
      ? " It knows no checksum of it: it was not installed by an update."
      : ` These are other bytes than the assigned package's: checksum ${running.slice(0, 12)}…, not ${assigned.checksum.slice(0, 12)}….`;
  }

  #row(one: OtaPackage): Row {
    const { id, device, session, refresh } = this.#place;
    const { ota } = session.operator;
    const name = `${one.title} ${one.version}`;
    const isAssigned = one.id.id === device.firmwareId?.id;
    const word = isAssigned ? "Unassign" : "Assign";
    const assign = async (): Promise<void> => {
      const state = this.#reported("fw_state");
      const text = `An update is running (${stateName(state)}). The device will abandon it.`;
      if (RUNNING.includes(state as string) && !(await ask(`${word} ${name}?`, text, word))) return;
      await attempt(() => ota.assign(id, isAssigned ? undefined : one.id.id));
      refresh();
    };
    const remove = async (): Promise<void> => {
      const text = "This deletes the file. Devices that are downloading it stop. You cannot undo this.";
      await askToDelete(`package ${name}`, text, () => ota.delete(one.id.id));
      refresh();
    };
    return {
      id: one.id.id,
      cells: [
        `${name}${isAssigned ? " (assigned)" : ""}`,
        bytes(one.dataSize ?? undefined),
        html`<button class="plain" aria-label="${word} ${name}" @click=${assign}>${word}</button>
          <button class="plain" aria-label="Delete ${name}" ?hidden=${isAssigned} @click=${remove}>Delete</button>`,
      ],
    };
  }

  /** Creates the package, uploads its file and assigns it. */
  #upload({ file, title, version }: { file: File; title: string; version: string }): Promise<unknown> {
    const { id, device, session, refresh } = this.#place;
    const { ota } = session.operator;
    return attempt(async () => {
      const image = new Uint8Array(await file.arrayBuffer());
      const there = await ota.find(title, version);
      if (there?.hasData) throw new Error(`${title} ${version} is already on the platform: assign it below.`);
      const entry =
        there ?? (await ota.create({ title, version, deviceProfileId: device.deviceProfileId?.id ?? "" }));
      await ota.upload(entry.id.id, image, { fileName: file.name });
      await ota.assign(id, entry.id.id);
      showToast(`Assigned ${title} ${version}.`);
      refresh();
    });
  }
}
