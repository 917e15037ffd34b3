// Firmware: a file is dropped in, its checksum computed here, uploaded and assigned; then what the device reports of its update.
import type { Algorithm, OtaPackage } from "../operator/shapes.js";
import { checksumOf } from "./checksum.js";
import { attempt, button, field, form, h, option, section, shown, table, tell } from "./dom.js";
import type { Part, Place } from "./page.js";

const ALGORITHMS: Algorithm[] = ["SHA256", "SHA384", "SHA512", "CRC32", "MURMUR3_32", "MURMUR3_128", "MD5"];
const KEYS = ["fw_state", "fw_progress", "fw_error", "current_fw_title", "current_fw_version"];

export function firmwarePart(place: Place): Part {
  const { session, device } = place;
  const id = device.id.id;
  const running = h("p", {});
  const state = h("p", { role: "status" });
  const bar = h("progress", { max: 100, value: 0, hidden: true, aria: { label: "Download by the device" } });
  const packages = h("div", {});
  const reported: Record<string, unknown> = {};

  const draw = (): void => {
    const { fw_state, fw_progress, fw_error, current_fw_title, current_fw_version } = reported;
    running.textContent =
      current_fw_version === undefined
        ? "The device has not said what it runs."
        : `Runs ${shown(current_fw_title)} ${shown(current_fw_version)}.`;
    const failed = fw_state === "FAILED";
    state.className = failed ? "bad" : "";
    state.textContent =
      fw_state === undefined ? "" : `${shown(fw_state)}${failed && fw_error ? `: ${shown(fw_error)}` : ""}`;
    bar.hidden = fw_state !== "DOWNLOADING";
    bar.value = typeof fw_progress === "number" ? fw_progress : 0;
  };
  const read = async (): Promise<void> => {
    for (const [key, { value }] of Object.entries(await session.operator.timeSeries.latest(id, KEYS)))
      reported[key] = value;
    draw();
    await list();
  };
  const list = async (): Promise<void> => {
    const { firmwareId } = await session.operator.devices.get(id);
    const { data } = await session.operator.ota.list();
    const fitting = data.filter((one) => one.type === "FIRMWARE" && one.hasData);
    packages.replaceChildren(...(fitting.length > 0 ? [packageTable(place, fitting, firmwareId?.id)] : []));
  };
  void read();
  const ends = [
    session.on("telemetry", ({ deviceId, values }) => {
      if (deviceId !== id) return;
      for (const key of KEYS) if (Object.hasOwn(values, key)) reported[key] = values[key];
      draw();
    }),
    session.on("device", ({ deviceId }) => deviceId === id && void list()),
    session.on("line", ({ up }) => up && void read()),
  ];
  return {
    element: section("Firmware", "card", running, state, bar, upload(place, reported), packages),
    end: () => {
      for (const end of ends) end();
    },
  };
}

function packageTable(
  { session, device }: Place,
  all: readonly OtaPackage[],
  assigned: string | undefined,
): HTMLElement {
  const assign = (to: string | undefined): Promise<boolean> =>
    attempt(() => session.operator.ota.assign(device.id.id, to));
  const rows = all.map((one) => {
    const is = one.id.id === assigned;
    const act = button(is ? "Unassign" : "Assign", () => assign(is ? undefined : one.id.id), "plain");
    act.ariaLabel = `${act.textContent} ${one.title} ${one.version}`;
    return [`${one.title} ${one.version}${is ? " (assigned)" : ""}`, `${one.dataSize ?? "?"} bytes`, act];
  });
  return table(["Package", "Size", ""], rows);
}

interface Wanted {
  file: File;
  title: string;
  version: string;
  algorithm: Algorithm;
}

function upload(place: Place, reported: Record<string, unknown>): HTMLElement {
  const input = h("input", { type: "file", className: "file" });
  const name = h("span", {}, "Drop an image here, or choose one");
  const title = h("input", { required: true, autocomplete: "off" });
  const version = h("input", { required: true, autocomplete: "off" });
  const algorithm = h("select", {}, ...ALGORITHMS.map((one) => option(one)));
  const checksum = h("code", { className: "checksum" });
  const bar = h("progress", { max: 1, value: 0, hidden: true, aria: { label: "Upload" } });
  let chosen: File | undefined;
  const take = async (file: File | undefined): Promise<void> => {
    chosen = file;
    name.textContent = file ? `${file.name}, ${file.size} bytes` : "Drop an image here, or choose one";
    if (title.value === "" && typeof reported.current_fw_title === "string")
      title.value = reported.current_fw_title;
    const wanted = algorithm.value as Algorithm;
    const text = file && (await checksumOf(wanted, await file.arrayBuffer()));
    // A large image takes its time: meanwhile another may have been chosen.
    if (chosen !== file || algorithm.value !== wanted) return;
    checksum.textContent = file ? (text ?? "computed by the platform") : "";
  };
  input.onchange = () => void take(input.files?.[0]);
  algorithm.onchange = () => void take(chosen);
  const drop = h("label", { className: "drop" }, input, name);
  drop.ondragover = (event) => event.preventDefault();
  drop.ondrop = (event) => {
    event.preventDefault();
    const [file] = event.dataTransfer?.files ?? [];
    if (file) void take(file);
    else tell("That is no file.", true);
  };
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
    tell(`${wanted.title} ${wanted.version} is assigned.`);
  };
  return form(
    { label: "Upload and assign" },
    () => {
      void attempt(push).finally(() => {
        bar.hidden = true;
      });
    },
    drop,
    field("Title", title),
    field("Version", version),
    field("Checksum", algorithm),
    checksum,
    bar,
    h("button", { type: "submit" }, "Upload and assign"),
  );
}

/** The entry, its file, the assignment. */
async function pushed(
  { session, device }: Place,
  wanted: Wanted,
  onSent: (share: number) => void,
): Promise<void> {
  const { ota } = session.operator;
  const { file, title, version, algorithm } = wanted;
  const bytes = await file.arrayBuffer();
  const checksum = await checksumOf(algorithm, bytes);
  const { data } = await ota.list({ textSearch: title });
  const there = data.find((one) => one.title === title && one.version === version && one.type === "FIRMWARE");
  if (there?.hasData) throw new Error(`${title} ${version} is on the platform already: assign it below.`);
  const entry =
    there ?? (await ota.create({ title, version, deviceProfileId: device.deviceProfileId?.id ?? "" }));
  await session.upload(entry.id.id, file, { algorithm, checksum }, onSent);
  await ota.assign(device.id.id, entry.id.id);
}
