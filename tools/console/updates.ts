// The fleet's updates: how many devices are in which state, and which ones.

import { ago } from "../duration.js";
import type { DeviceQuery } from "../operator/entities.js";
import { allPages } from "../operator/pages.js";
import { ROLLOUT_KEY } from "../operator/rollout-record.js";
import type { EntityData } from "../operator/shapes.js";
import { NO_CHECKSUM, STAGES, type Stage, stageOf } from "../operator/update-state.js";
import { h, heading, show } from "./dom.js";
import { counted } from "./model/format.js";
import { rolloutsOf } from "./model/rollouts.js";
import { updateHref } from "./model/routes.js";
import { coalesce, endAll, type Page } from "./page.js";
import { Pager } from "./pager.js";
import { drawRollouts } from "./rollouts.js";
import { type Row, Table } from "./table.js";

const AGAIN_MS = 2_000;
/** Devices in one answer of the platform, and on one page. */
const [READ, SHOWN] = [500, 25];
const COLUMNS = [
  { text: "Device" },
  { text: "Firmware", size: "middle" },
  { text: "Assigned", size: "middle" },
  { text: "Update", size: "large" },
  { text: "Since", size: "middle" },
  { text: "Reason" },
] as const;
const QUERY: Omit<DeviceQuery, "page"> = {
  pageSize: READ,
  sort: { key: { type: "ENTITY_FIELD", key: "name" }, direction: "ASC" },
  entityFields: [{ type: "ENTITY_FIELD", key: "name" }],
  latestValues: [
    ...(["fw_state", "fw_error", "fw_progress", "current_fw_version", "current_fw_checksum"] as const).map(
      (key) => ({ type: "TIME_SERIES", key }) as const,
    ),
    { type: "SHARED_ATTRIBUTE", key: "fw_version" },
    { type: "SHARED_ATTRIBUTE", key: "fw_checksum" },
    { type: "SERVER_ATTRIBUTE", key: ROLLOUT_KEY },
  ],
};

/** States that need attention come first. */
const URGENT: readonly Stage[] = [
  ...(["rolledBack", "failed", "unverified", "trial", "verified"] as const),
  ...(["downloading", "assigned", "confirmed", "none"] as const),
];

interface Updating {
  id: string;
  name: string;
  stage: Stage;
  running: string;
  wanted: string;
  progress: string;
  error: string;
  since: number;
  /** The record of a staged rollout; empty without one. */
  note: string;
}

export function updatesPage(query: URLSearchParams): Page {
  return (place, session) => {
    let stage = Object.keys(STAGES).find((name) => name === query.get("state")) as Stage | undefined;
    let page = 0;
    let all: Updating[] = [];
    const count = h("p", { className: "quiet", role: "status" });
    const bar = h("div", { className: "stages", aria: { hidden: "true" } });
    const choices = h("div", { className: "choices", role: "group", aria: { label: "State" } });
    const table = new Table(COLUMNS, { label: "Updates" });
    const rollouts = h("div", { className: "rollouts" });
    const pager = new Pager((to) => {
      page = to;
      draw();
    });
    const choose = (to: Stage | undefined): void => {
      [stage, page] = [to, 0];
      history.replaceState(null, "", to === undefined ? "#/updates" : `#/updates?state=${to}`);
      draw();
    };
    const buttons = new Map<Stage | undefined, HTMLButtonElement>(
      [undefined, ...(Object.keys(STAGES) as Stage[])].map((name) => [
        name,
        h("button", { type: "button", className: `choice ${name ?? ""}`, onclick: () => choose(name) }),
      ]),
    );
    choices.append(...buttons.values());
    const draw = (): void => {
      const counts = countsOf(all);
      for (const [name, it] of buttons) {
        const text = `${name === undefined ? "All" : STAGES[name]} ${name === undefined ? all.length : counts[name]}`;
        show(it, text);
        it.ariaPressed = String(name === stage);
      }
      drawBar(bar, counts);
      const chosen = stage === undefined ? all : all.filter((one) => one.stage === stage);
      const pages = Math.max(1, Math.ceil(chosen.length / SHOWN));
      page = Math.min(page, pages - 1);
      pager.show(page, pages);
      table.empty = all.length === 0 ? "No device yet." : "No device is in this state.";
      table.show(chosen.slice(page * SHOWN, (page + 1) * SHOWN).map(rowOf));
      show(count, all.length === 0 ? "" : counted(all.length, "device"));
    };
    let [tookMs, readAt] = [0, 0];
    const read = coalesce(async () => {
      const begun = Date.now();
      const found = await allPages((next) => session.operator.entities.devices({ ...QUERY, page: next }));
      all = found
        .map(updatingOf)
        .sort((one, other) => URGENT.indexOf(one.stage) - URGENT.indexOf(other.stage));
      readAt = Date.now();
      tookMs = readAt - begun;
      drawRollouts(rollouts, rolloutsOf(all));
      draw();
    });
    place.append(
      h("div", { className: "head" }, heading("Updates"), count),
      rollouts,
      h(
        "section",
        { className: "card", aria: { label: "Updates" } },
        bar,
        choices,
        table.element,
        pager.element,
      ),
    );
    read();
    let stale = false;
    const mark = (): void => {
      stale = true;
    };
    const ends = [
      session.on("telemetry", ({ values }) => {
        if (Object.keys(values).some((key) => key.includes("fw_"))) mark();
      }),
      session.on("attributes", ({ scope }) => scope !== "CLIENT_SCOPE" && mark()),
      session.on("device", mark),
      session.on("line", ({ up }) => up && mark()),
    ];
    const timer = setInterval(() => {
      // Reading a large fleet may take a fifth of the time at most.
      if (!stale || Date.now() - readAt < 4 * tookMs) return draw();
      stale = false;
      read();
    }, AGAIN_MS);
    return endAll(() => clearInterval(timer), ...ends);
  };
}

function updatingOf({ entityId, latest }: EntityData): Updating {
  const { fw_state, fw_error, fw_progress, current_fw_version, current_fw_checksum } =
    latest.TIME_SERIES ?? {};
  const wanted = latest.SHARED_ATTRIBUTE?.fw_version?.value ?? "";
  // The query answers an absent value as empty.
  const known = (value: { value: string } | undefined): string | undefined => value?.value || undefined;
  const stage = stageOf({
    ...{ state: known(fw_state), error: known(fw_error), running: known(current_fw_version) },
    wanted: wanted || undefined,
    runningChecksum: known(current_fw_checksum),
    wantedChecksum: known(latest.SHARED_ATTRIBUTE?.fw_checksum),
  });
  return {
    ...{ id: entityId.id, stage, wanted },
    name: latest.ENTITY_FIELD?.name?.value ?? "",
    running: current_fw_version?.value ?? "",
    progress: fw_progress?.value ?? "",
    error: reasonOf(stage, fw_error?.value),
    since: fw_state?.ts ?? 0,
    note: latest.SERVER_ATTRIBUTE?.[ROLLOUT_KEY]?.value ?? "",
  };
}

function reasonOf(stage: Stage, error = ""): string {
  if (stage === "unverified") return NO_CHECKSUM;
  return stage === "failed" || stage === "rolledBack" ? error : "";
}

function countsOf(all: readonly Updating[]): Record<Stage, number> {
  const counts = Object.fromEntries(Object.keys(STAGES).map((name) => [name, 0])) as Record<Stage, number>;
  for (const { stage } of all) counts[stage]++;
  return counts;
}

function drawBar(bar: HTMLElement, counts: Record<Stage, number>): void {
  const pieces = (Object.keys(STAGES) as Stage[]).filter((name) => counts[name] > 0);
  show(
    bar,
    ...pieces.map((name) => {
      const piece = h("span", { className: name, title: `${STAGES[name]} ${counts[name]}` });
      piece.style.flexGrow = String(counts[name]);
      return piece;
    }),
  );
}

function rowOf({ id, name, stage, running, wanted, progress, error, since }: Updating): Row {
  const text = stage === "downloading" && progress !== "" ? `${STAGES[stage]} ${progress} %` : STAGES[stage];
  return {
    id,
    cells: [
      h("a", { className: "cut", href: updateHref(id), title: name }, name),
      running,
      wanted,
      h("span", { className: `stage ${stage}` }, text),
      since === 0 || stage === "none" ? "" : ago(since),
      error,
    ],
  };
}
