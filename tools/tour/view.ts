import stringWidth from "string-width";
import { bar } from "../cli/output/progress.js";
import { cell, clip, plain } from "../cli/output/table.js";
import { ago } from "../duration.js";
import { stateWord } from "../operator/update-state.js";
import { TENANT } from "./hints.js";
import type { Model } from "./model.js";

const LABEL = 12;
/** Width before the value of a row. */
const MARGIN = 2 + LABEL;

/** Renders the lines of the live view. `now`: milliseconds since 1970. */
export function render(model: Model, now: number, columns: number): string[] {
  const lines = [
    row("console", `${model.url}/  login ${TENANT.username} / ${TENANT.password}`),
    row("device", model.firmware === "" ? model.device : `${model.device}, firmware ${model.firmware}`),
    row("state", model.state),
    row("delivered", points(model)),
    row(
      "last RPC",
      model.rpc
        ? `${model.rpc.method} #${model.rpc.id} ${model.rpc.outcome}, ${ago(model.rpc.at, now)}`
        : "none",
    ),
    row(
      "attributes",
      model.attributes ? `${changed(model.attributes)}, ${ago(model.attributes.at, now)}` : "no change",
    ),
    row("update", model.update ? progress(model.update, columns - MARGIN) : "none"),
    row("values", values(model) || "none yet"),
  ];
  if (model.trouble !== "") lines.push(row("note", model.trouble));
  return lines.map((line) => clip(plain(line), columns));
}

/** Summarizes the model in one line, for pipes and files. */
export function summary(model: Model): string {
  const latest = values(model);
  return clip(plain(`${model.state}, ${points(model)}${latest && `: ${latest}`}`), 200);
}

const values = ({ values }: Model): string =>
  Object.entries(values)
    .map(([key, value]) => `${key} ${cell(value)}`)
    .join(", ");

function row(label: string, value: string): string {
  return `  ${label.padEnd(LABEL)}${value}`;
}

function points({ delivered, dropped }: Model): string {
  const lost = dropped === 0 ? "" : `, ${dropped} dropped`;
  return `${delivered} ${delivered === 1 ? "point" : "points"}${lost}`;
}

function changed({ keys, deleted }: NonNullable<Model["attributes"]>): string {
  // The agent may name a deleted key in both lists.
  const set = keys.filter((key) => !deleted.includes(key));
  const parts = [];
  if (set.length > 0) parts.push(`set ${set.join(" ")}`);
  if (deleted.length > 0) parts.push(`deleted ${deleted.join(" ")}`);
  return parts.join(", ") || "changed";
}

/** Shows only the percentage if the bar does not fit. */
function progress({ version, state, percent, error }: NonNullable<Model["update"]>, room: number): string {
  const lead = `${version} ${stateWord(state, error)}`;
  const end = error === undefined ? "" : ` ${error}`;
  if (percent === undefined) return lead + end;
  const drawn = bar(percent / 100);
  const whole = `${lead} ${drawn}${end}`;
  return stringWidth(whole) <= room ? whole : `${lead} ${drawn.slice(drawn.indexOf("]") + 1).trim()}${end}`;
}
