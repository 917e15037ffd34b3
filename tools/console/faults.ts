// The fault switchboard: what goes wrong between the devices and the platform from now on.
import { attempt, button, field, form, h, option, section, table } from "./dom.js";
import type { Page } from "./page.js";
import { own } from "./session.js";

interface Rule {
  id: number;
  fault: string;
  match?: { method?: string; path?: string; device?: string };
  seen: number;
  done: number;
  [member: string]: unknown;
}

/** Each fault with the member it needs, and what stands there at first. */
const FAULTS: Record<string, readonly [member: string, value: string] | undefined> = {
  delay: ["ms", "1000"],
  drop: undefined,
  reset: undefined,
  truncated: undefined,
  garbage: undefined,
  status: ["status", "503"],
  "no-attributes": undefined,
  "torn-firmware": undefined,
  eviction: undefined,
  "clock-skew": ["ms", "60000"],
};
const SHOWN = ["id", "fault", "match", "seen", "done", "seed"];

export const faultsPage: Page = (place) => {
  const list = h("div", {});
  const read = (): Promise<unknown> =>
    attempt(async () => draw((await own("GET", "/api/faults")) as { faults: Rule[] }));
  const draw = ({ faults }: { faults: Rule[] }): void => {
    const rows = faults.map((rule) => [
      rule.fault,
      details(rule),
      matching(rule),
      `${rule.done} of ${rule.seen}`,
    ]);
    list.replaceChildren(
      rows.length > 0
        ? table(["Fault", "With", "For", "Done of seen"], rows)
        : h("p", { className: "quiet" }, "Nothing goes wrong on purpose."),
    );
  };
  const clear = button("Switch all off", async () => {
    await attempt(() => own("DELETE", "/api/faults"));
    await read();
  });
  place.append(section("Fault switchboard", "card", switchOn(draw), list, clear));
  void read();
  const timer = setInterval(
    () =>
      void own("GET", "/api/faults").then(
        (all) => draw(all as { faults: Rule[] }),
        () => {},
      ),
    1_000,
  );
  return () => clearInterval(timer);
};

function switchOn(draw: (all: { faults: Rule[] }) => void): HTMLElement {
  const fault = h("select", {}, ...Object.keys(FAULTS).map((name) => option(name)));
  const number = h("input", { type: "number" });
  const path = h("input", { placeholder: "telemetry, rpc*", autocomplete: "off", spellcheck: false });
  const count = h("input", { type: "number", min: "1", placeholder: "without end" });
  const probability = h("input", { type: "number", min: "0", max: "1", step: "0.05", value: "1" });
  const numberField = field("", number, "short");
  const suit = (): void => {
    const [member, value] = FAULTS[fault.value] ?? [];
    numberField.hidden = member === undefined;
    (numberField.firstChild as HTMLElement).textContent = member ?? "";
    number.required = member !== undefined;
    number.value = value ?? "";
  };
  fault.onchange = suit;
  suit();
  const rule = (): object => {
    const [member] = FAULTS[fault.value] ?? [];
    return {
      fault: fault.value,
      ...(member !== undefined && { [member]: Number(number.value) }),
      ...(path.value !== "" && { match: { path: path.value } }),
      ...(count.value !== "" && { count: Number(count.value) }),
      probability: Number(probability.value),
    };
  };
  return form(
    { label: "Switch a fault on" },
    () => {
      void attempt(async () =>
        draw((await own("POST", "/api/faults", { faults: [rule()] })) as { faults: Rule[] }),
      );
    },
    field("Fault", fault),
    numberField,
    field("Path", path),
    field("Times", count, "short"),
    field("Probability", probability, "short"),
    h("button", { type: "submit" }, "Switch on"),
  );
}

function details(rule: Rule): string {
  const usual = { skip: 0, probability: 1 } as Record<string, unknown>;
  const members = Object.entries(rule).filter(
    ([name, value]) => !SHOWN.includes(name) && usual[name] !== value,
  );
  return members.map(([name, value]) => `${name} ${JSON.stringify(value)}`).join(", ");
}

function matching({ match = {} }: Rule): string {
  const { method, path, device } = match;
  return [method, path, device].filter((part) => part !== undefined).join(" ") || "all";
}
