// One device's update: each step with its time, the download with its rate, and the end.
import { ago } from "../../duration.js";
import type { OtaPackage } from "../../operator/shapes.js";
import { stateName } from "../../operator/update-state.js";
import { h, section, show } from "../dom.js";
import { bytes, clock, counted, shown } from "../model/format.js";
import { otherBytes, type Running } from "../model/image.js";
import { deviceHref } from "../model/routes.js";
import { type History, type Picture, pictureOf, type Reading, type Step } from "../model/update.js";
import { endAll, type Page, type Part, type Place, unlessGone } from "../page.js";
import { Table } from "../table.js";
import { withDevice } from "./device.js";

const KEYS = [
  ...["fw_state", "fw_progress", "fw_error"],
  ...["current_fw_title", "current_fw_version", "current_fw_checksum"],
];
const MONTH_MS = 30 * 86_400_000;
const MOST = 500;
const COLUMNS = [{ text: "Time", size: "middle" }, { text: "Report" }] as const;

export function updatePage(id: string): Page {
  return withDevice(id, (title, where) => {
    const picture = pictureSection(where);
    const back = h("a", { href: deviceHref(id) }, "Back to the device");
    const head = h(
      "div",
      { className: "head" },
      title,
      h("span", { className: "quiet" }, "firmware update"),
      back,
    );
    return { element: h("div", {}, head, picture.element), end: picture.end };
  });
}

function pictureSection({ session, device }: Place): Part {
  const id = device.id.id;
  const what = h("p", { className: "whole" });
  const steps = h("ol", { className: "steps" });
  const summary = h("p", { role: "status" });
  const table = new Table(COLUMNS, { empty: "No reports.", label: "Reports", className: "compact" });
  const readings = new Map<string, Reading[]>(KEYS.map((key) => [key, []]));
  const of = (key: string): Reading[] => readings.get(key) ?? [];
  let assigned: OtaPackage | undefined;

  const draw = (): void => {
    const now = Date.now();
    const history: History = {
      ...{ states: of("fw_state"), progress: of("fw_progress"), errors: of("fw_error") },
    };
    const newest = (key: string): unknown => of(key).at(-1)?.value;
    const [title, version] = [newest("current_fw_title"), newest("current_fw_version")];
    const checksum = newest("current_fw_checksum");
    const isUnverified = Boolean(assigned?.checksum) && !checksum;
    const picture = pictureOf(history, { size: assigned?.dataSize ?? undefined, now, isUnverified });
    show(what, whatText(assigned, { title, version, checksum }));
    show(summary, picture.summary);
    show(steps, ...picture.steps.map((step) => stepItem(step, picture, now)));
    table.show(reportRows(history, now));
  };
  const list = async (): Promise<void> => {
    const { firmwareId } = await session.operator.devices.get(id);
    assigned = firmwareId ? await session.operator.ota.get(firmwareId.id) : undefined;
    draw();
  };
  const look = async (): Promise<void> => {
    const endTs = Date.now() + 60_000;
    const found = await session.operator.timeSeries.range(id, {
      ...{ keys: KEYS, startTs: endTs - MONTH_MS, endTs, limit: MOST },
    });
    for (const key of KEYS) readings.set(key, withNewer((found[key] ?? []).reverse(), of(key)));
    await list();
  };
  const read = (work: () => Promise<void>): void => void work().catch(unlessGone);
  read(look);
  const ends = [
    session.on("telemetry", ({ deviceId, ts, values }) => {
      if (deviceId !== id) return;
      for (const key of KEYS) if (Object.hasOwn(values, key)) add(of(key), { ts, value: values[key] });
      draw();
    }),
    session.on("device", ({ deviceId }) => deviceId === id && read(list)),
    session.on("line", ({ up }) => up && read(look)),
  ];
  const timer = setInterval(draw, 1_000);
  return {
    element: h(
      "div",
      { className: "parts" },
      section("Update", "card wide", what, steps, summary),
      section("Reports", "card wide", table.element),
    ),
    end: endAll(() => clearInterval(timer), ...ends),
  };
}

/** Joins both: a reading that arrived while `found` was read may be in one or both. */
function withNewer(found: readonly Reading[], before: readonly Reading[]): Reading[] {
  const known = new Set(found.map(({ ts }) => ts));
  return [...found, ...before.filter(({ ts }) => !known.has(ts))].sort((one, other) => one.ts - other.ts);
}

/** Drops the oldest, as a page may stay open for long. */
function add(readings: Reading[], reading: Reading): void {
  readings.push(reading);
  if (readings.length > MOST) readings.shift();
}

function whatText(assigned: OtaPackage | undefined, running: Running): string {
  const runs =
    running.version === undefined
      ? "The device has not reported its firmware"
      : `The device runs ${shown(running.version)}`;
  if (!assigned) return `${runs}. No package is assigned.`;
  const { title, version, dataSize } = assigned;
  return `${runs}. Assigned: ${title} ${version}, ${bytes(dataSize ?? undefined)}.${otherBytes(running, assigned)}`;
}

const SAID: Record<Step["state"], string> = { done: "done", now: "now", failed: "failed", ahead: "not yet" };

function stepItem({ title, state, at, note }: Step, { progress }: Picture, now: number): HTMLElement {
  const time = at === undefined ? "" : `${clock(at, now)}, ${ago(at, now)}`;
  const isDownload = progress !== undefined && state === "now";
  const bar = isDownload
    ? h("progress", { max: 100, value: progress, aria: { label: "Download by the device" } })
    : undefined;
  return h(
    "li",
    { data: { state }, aria: state === "now" ? { current: "step" } : {} },
    h("strong", {}, title),
    h("span", { className: "said" }, SAID[state]),
    h("span", { className: "quiet" }, time),
    bar,
    h("span", { className: "note" }, note),
  );
}

/** Newest first. */
function reportRows(
  { states, progress: all, errors }: History,
  now: number,
): { id: string; cells: string[] }[] {
  const rows = states.map(({ ts, value }) => {
    const error = value === "FAILED" ? errors.find((one) => one.ts === ts)?.value : undefined;
    return { ts, text: error ? `${stateName(value, error)}: ${shown(error)}` : stateName(value) };
  });
  // Reports of earlier updates have their own states only.
  const begun = states.findLast(({ value }) => value === "DOWNLOADING")?.ts ?? 0;
  const progress = all.filter(({ ts }) => ts >= begun);
  const last = progress.at(-1);
  if (last)
    rows.push({
      ts: last.ts,
      text: `${shown(last.value)} %, ${counted(progress.length, "report")}`,
    });
  return rows
    .sort((one, other) => other.ts - one.ts)
    .slice(0, 100)
    .map(({ ts, text }, i) => ({ id: `${i}`, cells: [clock(ts, now), text] }));
}
