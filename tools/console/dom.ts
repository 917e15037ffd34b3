// Elements from TypeScript. Text is only ever set as text: what a device sent is never taken for markup.

type Child = Node | string | undefined;
type Props<K extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[K], "style" | "dataset" | "children">
> & { aria?: Record<string, string>; data?: Record<string, string> };

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props<K> = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  const { aria = {}, data = {}, ...rest } = props;
  Object.assign(element, rest);
  for (const [name, value] of Object.entries(aria)) element.setAttribute(`aria-${name}`, value);
  Object.assign(element.dataset, data);
  element.append(...children.filter((child) => child !== undefined));
  return element;
}

/** A part of the page with a heading of its own. */
export function section(title: string, className: string, ...children: readonly Child[]): HTMLElement {
  return h("section", { className, aria: { label: title } }, h("h2", {}, title), ...children);
}

/** A field with its label above. */
export function field(label: string, input: HTMLElement, className = ""): HTMLLabelElement {
  return h("label", { className }, h("span", {}, label), input);
}

/** A form of its own name; `onSend` gets what it asks for, in place of the browser. */
export function form(
  { label, className = "row" }: { label: string; className?: string },
  onSend: () => unknown,
  ...children: readonly Child[]
): HTMLFormElement {
  const element = h("form", { className, aria: { label } }, ...children);
  element.addEventListener("submit", (event) => {
    event.preventDefault();
    onSend();
  });
  return element;
}

export function button(text: string, onclick: () => unknown, className = ""): HTMLButtonElement {
  return h("button", { type: "button", className, onclick: () => void onclick() }, text);
}

export function option(value: string, text = value): HTMLOptionElement {
  return h("option", { value }, text);
}

/** A value as the page shows it. */
export function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** Rows under a head; on a narrow screen each cell repeats the head. */
export function table(head: readonly string[], rows: readonly (readonly Child[])[]): HTMLTableElement {
  const cells = (row: readonly Child[]): Child[] =>
    row.map((cell, column) => h("td", { data: { head: head[column] ?? "" } }, cell));
  return h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, ...rows.map((row) => h("tr", {}, ...cells(row)))),
  );
}

/** Says something to everybody, screen readers included; an error stays longer. */
export function tell(text: string, isError = false): void {
  const told = document.getElementById("told");
  if (!told) return;
  const line = h("p", { className: isError ? "bad" : "" }, text);
  told.append(line);
  setTimeout(() => line.remove(), isError ? 12_000 : 4_000);
}

/** Runs what a person asked for; what fails is told. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    tell(error instanceof Error ? error.message : String(error), true);
    return false;
  }
}

export function clock(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString([], { hour12: false });
}

export function ago(ms: number): string {
  const s = Math.max(0, Math.round((Date.now() - ms) / 1000));
  if (s < 120) return `${s} s ago`;
  if (s < 7_200) return `${Math.round(s / 60)} min ago`;
  return s < 172_800 ? `${Math.round(s / 3_600)} h ago` : `${Math.round(s / 86_400)} d ago`;
}
