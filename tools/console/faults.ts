// Switches faults of the local platform on, explains them, and shows their effects.

import { duration } from "../duration.js";
import { attempt, button, field, form, h, heading, option, section } from "./dom.js";
import { type Effect, effectsOf } from "./model/fault-effects.js";
import { explain, FAULTS, type Member, PRESETS, type Rule } from "./model/faults.js";
import type { Page } from "./page.js";
import { own } from "./session.js";
import { type Row, Table } from "./table.js";

interface Active extends Rule {
  id: number;
  seen: number;
  done: number;
}
interface All {
  faults: Active[];
}

const AGAIN_MS = 1_000;
/** Only the devices with the most faults are shown. */
const SHOWN = 50;
const ON = [
  { text: "Effect" },
  { text: "Fault", size: "large" },
  { text: "Applied", size: "middle" },
] as const;
const DID = [
  { text: "Fault", size: "large" },
  { text: "Device" },
  { text: "Requests hit", size: "middle" },
  { text: "Answers" },
  { text: "Longest wait", size: "middle" },
  { text: "Now", size: "large" },
] as const;

export const faultsPage: Page = (place, session) => {
  const rules = new Table(ON, { empty: "No faults active.", label: "Active faults" });
  const effects = new Table(DID, {
    empty: "No device has met a fault yet.",
    label: "Effects on devices",
  });
  const draw = ({ faults }: All): void => rules.show(faults.map(ruleRow));
  const post = (faults: readonly Rule[]): Promise<boolean> =>
    attempt(async () => draw((await own("POST", "/api/faults", { faults })) as All));
  const look = async (): Promise<void> => {
    draw((await own("GET", "/api/faults")) as All);
    effects.show(
      effectsOf(await session.operator.requests())
        .slice(0, SHOWN)
        .map(effectRow),
    );
  };
  const clear = button("Switch all off", () =>
    attempt(async () => {
      await own("DELETE", "/api/faults");
      await look();
    }),
  );
  place.append(
    h(
      "div",
      { className: "head" },
      heading("Faults"),
      h("span", { className: "quiet" }, "for testing: injected between devices and this local platform"),
    ),
    h(
      "div",
      { className: "parts" },
      section("Active faults", "card wide", rules.element, h("p", {}, clear)),
      section("Effects on devices", "card wide", effects.element),
      section(
        "Presets",
        "card wide",
        h("div", { className: "presets" }, ...PRESETS.map((preset) => presetCard(preset, post))),
      ),
      section("Single fault", "card wide", switchOn(post)),
    ),
  );
  void attempt(look);
  const timer = setInterval(() => void look().catch(() => {}), AGAIN_MS);
  return () => clearInterval(timer);
};

function presetCard(
  { name, sentence, faults }: (typeof PRESETS)[number],
  post: (faults: readonly Rule[]) => Promise<boolean>,
): HTMLElement {
  const start = button("Switch on", () => post(faults), "second");
  start.ariaLabel = `Switch on ${name}`;
  return h("div", { className: "preset" }, h("h3", {}, name), h("p", {}, sentence), start);
}

function ruleRow(rule: Active): Row {
  const { id, fault, done, seen } = rule;
  const sentence = h("span", { className: "whole" }, explain(rule));
  return { id: String(id), cells: [sentence, fault, `${done} of ${seen}`] };
}

function effectRow({ fault, device, hit, answers, longestMs, open }: Effect): Row {
  const now = open === 0 ? "recovered" : `${open} kind${open === 1 ? "" : "s"} of request still failing`;
  return {
    id: JSON.stringify([fault, device]),
    cells: [
      fault,
      device,
      String(hit),
      answers,
      longestMs === undefined ? "" : duration(longestMs),
      h("span", { className: open === 0 ? "good" : "bad" }, now),
    ],
  };
}

function switchOn(post: (faults: readonly Rule[]) => Promise<boolean>): HTMLElement {
  const fault = h("select", {}, ...Object.keys(FAULTS).map((name) => option(name)));
  const sentence = h("p", { className: "full", role: "status" });
  const members = h("span", { className: "row" });
  const path = h("input", { placeholder: "telemetry, rpc*", autocomplete: "off", spellcheck: false });
  const device = h("input", { placeholder: "all", autocomplete: "off", spellcheck: false });
  const count = h("input", { type: "number", min: "1", placeholder: "no limit" });
  const probability = h("input", { type: "number", min: "0", max: "1", step: "0.05", value: "1" });
  let inputs: { member: Member; input: HTMLInputElement | HTMLSelectElement }[] = [];
  const suit = (): void => {
    const { sentence: text = "", members: needed = [] } = FAULTS[fault.value] ?? {};
    sentence.textContent = text;
    inputs = needed.map((member) => ({ member, input: inputOf(member) }));
    members.replaceChildren(...inputs.map(({ member, input }) => field(member.label, input, "short")));
  };
  fault.onchange = suit;
  suit();
  const rule = (): Rule => ({
    fault: fault.value,
    ...Object.fromEntries(
      inputs.map(({ member, input }) => [member.name, member.choices ? input.value : Number(input.value)]),
    ),
    match: {
      ...(path.value !== "" && { path: path.value }),
      ...(device.value !== "" && { device: device.value }),
    },
    ...(count.value !== "" && { count: Number(count.value) }),
    probability: Number(probability.value),
  });
  return form(
    { label: "Switch a fault on" },
    () => void post([rule()]),
    field("Fault", fault),
    sentence,
    members,
    field("Path", path),
    field("Device", device),
    field("Times", count, "short"),
    field("Probability", probability, "short"),
    h("button", { type: "submit" }, "Switch on"),
  );
}

function inputOf({ choices, value }: Member): HTMLInputElement | HTMLSelectElement {
  const input = choices
    ? h("select", {}, ...choices.map((name) => option(name)))
    : h("input", { type: "number", required: true });
  input.value = value;
  return input;
}
