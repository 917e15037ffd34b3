// Staged rollouts, each as its steps.
import { h, show } from "./dom.js";
import type { RolloutStage, ShownRollout } from "./model/rollouts.js";

/** Earlier rollouts are not shown. */
const MOST = 3;
const SAID: Record<RolloutStage["state"], string> = {
  ...{ done: "good", now: "now", failed: "a device failed", ahead: "not yet" },
};

export function drawRollouts(place: HTMLElement, all: readonly ShownRollout[]): void {
  show(place, ...all.slice(0, MOST).map(card));
}

const PARTS = { "hand-over": "being handed over to the profile", stages: "under way" } as const;

function card({ name, part, stages }: ShownRollout): HTMLElement {
  const steps = stages.map(({ title, state, note }) =>
    h(
      "li",
      { data: { state } },
      h("strong", {}, title),
      h("span", { className: "said" }, SAID[state]),
      h("span", { className: "note" }, note),
    ),
  );
  return h(
    "section",
    { className: "card", aria: { label: `Rollout of ${name}` } },
    h("h2", {}, `Rollout of ${name}: ${part ? PARTS[part] : "finished"}`),
    h("ol", { className: "steps" }, ...steps),
  );
}
