// Firmware: uploads and assigns an image, and shows the update as the device reports it.
import { allPages } from "../../operator/pages.js";
import type { Algorithm, OtaPackage } from "../../operator/shapes.js";
import { stateName } from "../../operator/update-state.js";
import { ask, attempt, button, field, form, h, option, section, show, showToast } from "../dom.js";
import { bytes, shown } from "../model/format.js";
import { isUpdating } from "../model/guard.js";
import { otherBytes } from "../model/image.js";
import { updateHref } from "../model/routes.js";
import { endAll, type Part, type Place, unlessGone } from "../page.js";
import { type Row, Table } from "../table.js";
import { checksumOf } from "./checksum.js";

const ALGORITHMS: Algorithm[] = ["SHA256", "SHA384", "SHA512", "MD5"];
const KEYS = [
  ...["fw_state", "fw_progress", "fw_error"],
  ...["current_fw_title", "current_fw_version", "current_fw_checksum"],
];
const COLUMNS = [{ text: "Package" }, { text: "Size", size: "small" }, { text: "", size: "large" }] as const;
type Reported = Record<string, unknown>;

export function firmwarePart(place: Place): Part {
  const { session, device } = place;
  const id = device.id.id;
  const running = h("p", { className: "line" });
  const state = h("p", { role: "status" });
  const bar = h("progress", { max: 100, value: 0, hidden: true, aria: { label: "Download by the device" } });
  const empty = "No package with a file exists for the device's profile.";
  const packages = new Table(COLUMNS, { empty, label: "Packages for the device" });
  const reported: Reported = {};
  const times = new Map<string, number>();
  // An older reading that comes late is not the state.
  const take = (key: string, ts: number, value: unknown): void => {
    if (ts < (times.get(key) ?? 0)) return;
    times.set(key, ts);
    reported[key] = value;
  };
  let fitting: readonly OtaPackage[] = [];
  let assigned: string | undefined;

  const draw = (): void => {
    const { fw_state, fw_progress, fw_error, current_fw_title, current_fw_version, current_fw_checksum } =
      reported;
    running.textContent =
      current_fw_version === undefined
        ? "The device has not reported its firmware."
        : `Runs ${shown(current_fw_title)} ${shown(current_fw_version)}.${otherBytes(
            { title: current_fw_title, version: current_fw_version, checksum: current_fw_checksum },
            fitting.find((one) => one.id.id === assigned),
          )}`;
    running.title = running.textContent;
    const failed = fw_state === "FAILED";
    state.className = failed ? "bad" : "";
    const why = failed && fw_error ? `: ${shown(fw_error)}` : "";
    show(state, fw_state === undefined ? "" : `${stateName(fw_state, fw_error)}${why}`);
    bar.hidden = fw_state !== "DOWNLOADING";
    bar.value = typeof fw_progress === "number" ? fw_progress : 0;
    packages.show(fitting.map((one) => packageRow(place, { one, assigned, reported })));
  };
  const list = async (): Promise<void> => {
    const { firmwareId, deviceProfileId } = await session.operator.devices.get(id);
    assigned = firmwareId?.id;
    const profileId = deviceProfileId?.id ?? "";
    fitting = await allPages((page) => session.operator.ota.fitting(profileId, { page }));
    draw();
  };
  const look = async (): Promise<void> => {
    const found = await session.operator.timeSeries.latest(id, KEYS);
    for (const [key, { ts, value }] of Object.entries(found)) take(key, ts, value);
    await list();
  };
  const read = (work: () => Promise<void>): void => void work().catch(unlessGone);
  read(look);
  const ends = [
    session.on("telemetry", ({ deviceId, ts, values }) => {
      if (deviceId !== id) return;
      for (const key of KEYS) if (Object.hasOwn(values, key)) take(key, ts, values[key]);
      draw();
    }),
    session.on("device", ({ deviceId }) => deviceId === id && read(list)),
    session.on("line", ({ up }) => up && read(look)),
    session.deletions.on(() => read(list)),
  ];
  const link = h("a", { href: updateHref(id) }, "Update step by step");
  return {
    element: section(
      "Firmware",
      "card",
      ...[running, state, bar, h("p", {}, link)],
      ...[upload(place, reported), h("h3", {}, "Packages"), packages.element],
    ),
    end: endAll(...ends),
  };
}

interface Offered {
  one: OtaPackage;
  assigned: string | undefined;
  reported: Reported;
}

function packageRow(place: Place, { one, assigned, reported }: Offered): Row {
  const { session, device } = place;
  const name = `${one.title} ${one.version}`;
  const isAssigned = one.id.id === assigned;
  const path = `/api/otaPackage/${encodeURIComponent(one.id.id)}`;
  const isDeleting = session.deletions.has(path);
  const assign = async (): Promise<void> => {
    const running = isUpdating(reported.fw_state);
    const title = isAssigned ? `Unassign ${name}?` : `Assign ${name} instead?`;
    const text = `An update is running (${stateName(reported.fw_state)}). The device will abandon it.`;
    if (running && !(await ask(title, text, isAssigned ? "Unassign" : "Assign"))) return;
    await session.operator.ota.assign(device.id.id, isAssigned ? undefined : one.id.id);
  };
  const remove = (): Promise<void> =>
    session.deletions.ask(
      { path, name: `package ${name}` },
      "This deletes the file. Devices that are downloading it stop. You cannot undo this.",
    );
  const actions = (): Node => {
    if (isDeleting) return h("span", { className: "quiet" }, "Deleting…");
    const act = button(isAssigned ? "Unassign" : "Assign", () => attempt(assign), "plain");
    act.ariaLabel = `${act.textContent} ${name}`;
    const deleting = button("Delete", remove, "plain");
    deleting.ariaLabel = `Delete ${name}`;
    return h("span", { className: "actions" }, act, ...(isAssigned ? [] : [deleting]));
  };
  const size = one.dataSize;
  return {
    id: one.id.id,
    cells: [
      `${name}${isAssigned ? " (assigned)" : ""}`,
      h("span", { title: `${size ?? "?"} bytes` }, bytes(size ?? undefined)),
      actions(),
    ],
  };
}

interface Wanted {
  file: File;
  title: string;
  version: string;
  algorithm: Algorithm;
}

const ASKS = "Drop an image here, or choose a file";

function upload(place: Place, reported: Reported): HTMLElement {
  const input = h("input", { type: "file", className: "file" });
  const name = h("span", { className: "dropped" }, ASKS);
  const title = h("input", { required: true, autocomplete: "off" });
  const version = h("input", { required: true, autocomplete: "off" });
  const algorithm = h("select", {}, ...ALGORITHMS.map((one) => option(one)));
  const checksum = h("code", { className: "checksum" });
  const bar = h("progress", { max: 1, value: 0, hidden: true, aria: { label: "Upload" } });
  let chosen: File | undefined;
  const take = async (file: File | undefined): Promise<void> => {
    chosen = file;
    name.textContent = file ? `${file.name}, ${bytes(file.size)}` : ASKS;
    name.title = file ? `${file.name}, ${file.size} bytes` : "";
    if (title.value === "" && typeof reported.current_fw_title === "string")
      title.value = reported.current_fw_title;
    const wanted = algorithm.value as Algorithm;
    const text = file && (await checksumOf(wanted, await file.arrayBuffer()));
    // Meanwhile another image or algorithm may have been chosen.
    if (chosen !== file || algorithm.value !== wanted) return;
    checksum.textContent = file ? (text ?? "The platform computes the checksum.") : "";
    checksum.title = checksum.textContent;
  };
  input.onchange = () => void take(input.files?.[0]);
  algorithm.onchange = () => void take(chosen);
  const push = async (): Promise<void> => {
    if (!chosen) throw new Error("Choose an image first.");
    const wanted = {
      file: chosen,
      title: title.value,
      version: version.value,
      algorithm: algorithm.value as Algorithm,
    };
    bar.hidden = false;
    await pushed(place, wanted, (share) => {
      bar.value = share;
    });
    showToast(`Assigned ${wanted.title} ${wanted.version}.`);
  };
  return form(
    { label: "Upload and assign" },
    () => {
      void attempt(push).finally(() => {
        bar.hidden = true;
      });
    },
    dropPlace(input, name, take),
    field("Title", title),
    field("Version", version),
    field("Checksum", algorithm),
    checksum,
    bar,
    h("button", { type: "submit" }, "Upload and assign"),
  );
}

function dropPlace(
  input: HTMLInputElement,
  name: HTMLElement,
  take: (file: File) => Promise<void>,
): HTMLElement {
  const drop = h("label", { className: "drop" }, input, name);
  drop.ondragover = (event) => event.preventDefault();
  drop.ondrop = (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void take(file);
    else showToast("Drop a file: what you dropped is not a file.", true);
  };
  return drop;
}

/** Creates the package, uploads its file and assigns it. */
async function pushed(
  { session, device }: Place,
  wanted: Wanted,
  onSent: (share: number) => void,
): Promise<void> {
  const { ota } = session.operator;
  const { file, title, version, algorithm } = wanted;
  const image = await file.arrayBuffer();
  const checksum = await checksumOf(algorithm, image);
  const there = await ota.find(title, version);
  if (there?.hasData) throw new Error(`${title} ${version} is already on the platform: assign it below.`);
  const entry =
    there ?? (await ota.create({ title, version, deviceProfileId: device.deviceProfileId?.id ?? "" }));
  await session.upload(entry.id.id, file, { algorithm, checksum }, onSent);
  await ota.assign(device.id.id, entry.id.id);
}
