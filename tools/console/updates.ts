// The fleet's updates: how many devices are in which state, and which ones.
import { ago } from "../duration.js";
import type { DeviceQuery } from "../operator/entities.js";
import { allPages } from "../operator/pages.js";
import { ROLLOUT_KEY } from "../operator/rollout-record.js";
import type { EntityData } from "../operator/shapes.js";
import { NO_CHECKSUM, STAGES, type Stage, stageOf } from "../operator/update-state.js";
import { counted } from "./model/format.js";
import { rolloutsOf, type ShownRollout } from "./model/rollouts.js";
import { type Context, html, type Page, pager, type Row, type TemplateResult, table } from "./ui.js";

/** Devices in one answer of the platform, and on one page. */
const [READ, SHOWN] = [500, 25];
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
  stage: Stage;
  /** The record of a staged rollout; empty without one. */
  note: string;
  row: () => Row;
}

export class UpdatesPage implements Page {
  readonly title = "Updates";
  readonly #context: Context;
  #stage: Stage | undefined;
  #page = 0;
  #all: readonly Updating[] = [];
  #nextAt = 0;

  constructor(context: Context, query: URLSearchParams) {
    this.#context = context;
    this.#stage = URGENT.find((name) => name === query.get("state"));
  }

  async read(): Promise<void> {
    const begun = Date.now();
    // Reading a large fleet may take a fifth of the time at most.
    if (begun < this.#nextAt) return;
    const { entities } = this.#context.session.operator;
    const found = await allPages((page) => entities.devices({ ...QUERY, page }));
    this.#all = found
      .map(updatingOf)
      .sort((one, other) => URGENT.indexOf(one.stage) - URGENT.indexOf(other.stage));
    this.#nextAt = Date.now() + 4 * (Date.now() - begun);
  }

  view(): TemplateResult {
    const all = this.#all;
    const chosen = this.#stage ? all.filter(({ stage }) => stage === this.#stage) : all;
    const pages = Math.max(1, Math.ceil(chosen.length / SHOWN));
    const page = Math.min(this.#page, pages - 1);
    const rows = chosen.slice(page * SHOWN, (page + 1) * SHOWN).map(({ row }) => row());
    const count = (name: Stage): number => all.filter(({ stage }) => stage === name).length;
    return html`<div class="head">
        <h1 tabindex="-1">Updates</h1>
        <p class="quiet" role="status">${all.length === 0 ? "" : counted(all.length, "device")}</p>
      </div>
      ${rolloutsOf(all).map(rolloutView)}
      <section class="card" aria-label="Updates">
        <div class="choices" role="group" aria-label="State">
          ${this.#choice(undefined, `All ${all.length}`)}
          ${(Object.keys(STAGES) as Stage[]).map((name) => this.#choice(name, `${STAGES[name]} ${count(name)}`))}
        </div>
        ${table(
          "Updates",
          ["Device", "Firmware", "Assigned", "Update", "Since", "Reason"],
          rows,
          all.length === 0 ? "No device yet." : "No device is in this state.",
        )}
        ${pager(page, pages, (to) => this.#show(this.#stage, to))}
      </section>`;
  }

  #choice(stage: Stage | undefined, text: string): TemplateResult {
    return html`<button class="second" aria-pressed=${String(stage === this.#stage)}
      @click=${() => this.#show(stage, 0)}>${text}</button>`;
  }

  #show(stage: Stage | undefined, page: number): void {
    [this.#stage, this.#page] = [stage, page];
    history.replaceState(null, "", stage === undefined ? "#/updates" : `#/updates?state=${stage}`);
    this.#context.refresh();
  }
}

function updatingOf({ entityId: { id }, latest }: EntityData): Updating {
  // The query answers an absent value as empty.
  const reported = (key: string): string | undefined => latest.TIME_SERIES?.[key]?.value || undefined;
  const shared = (key: string): string | undefined => latest.SHARED_ATTRIBUTE?.[key]?.value || undefined;
  const [error, running, wanted] = [
    reported("fw_error"),
    reported("current_fw_version"),
    shared("fw_version"),
  ];
  const stage = stageOf({
    ...{ state: reported("fw_state"), error, running, wanted },
    runningChecksum: reported("current_fw_checksum"),
    wantedChecksum: shared("fw_checksum"),
  });
  const progress = stage === "downloading" && reported("fw_progress");
  const since = latest.TIME_SERIES?.fw_state?.ts ?? 0;
  const reason = stage === "failed" || stage === "rolledBack" ? error : undefined;
  const row = (): Row => ({
    id,
    cells: [
      html`<a href="#/device/${id}">${latest.ENTITY_FIELD?.name?.value}</a>`,
      ...[running ?? "", wanted ?? ""],
      html`<span class="dot ${stage}">${STAGES[stage]}${progress ? ` ${progress} %` : ""}</span>`,
      since === 0 || stage === "none" ? "" : ago(since),
      stage === "unverified" ? NO_CHECKSUM : (reason ?? ""),
    ],
  });
  return { stage, row, note: latest.SERVER_ATTRIBUTE?.[ROLLOUT_KEY]?.value ?? "" };
}

const PARTS = {
  "hand-over": "The packages of the single devices are being given back to the profile.",
  stages: "",
};

const rolloutView = ({ name, part, stages }: ShownRollout): TemplateResult =>
  html`<section class="card" aria-label="Rollout of ${name}">
    <h2>Rollout of ${name}</h2>
    <p class="quiet">${part ? PARTS[part] : "Finished"}</p>
    <ol>${stages.map(
      ({ title, state, note }) =>
        html`<li class=${state === "failed" ? "bad" : ""}><b>${title}</b> ${note || "not started"}</li>`,
    )}</ol>
  </section>`;
