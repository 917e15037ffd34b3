// Elements from TypeScript. Text is only ever set as text: what a device sent is never taken for markup.

import { titled } from "./model/routes.js";

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

/** The heading of a page, which the window's title repeats, and where the focus goes when a page has opened. */
export function heading(text: string): HTMLHeadingElement {
  const element = h("h1", { tabIndex: -1 });
  setHeading(element, text);
  return element;
}

export function setHeading(element: HTMLHeadingElement, text: string): void {
  // A long name goes on in the next line where it has a sign between two words.
  element.replaceChildren(...text.split(/(?<=[-_.:/])/).flatMap((part) => [part, h("wbr", {})]));
  element.title = text;
  document.title = titled(text);
}

/** Says something to everybody, screen readers included; an error stays longer. Removed by the result, or by `hush`. */
export function tell(text: string, isError = false, ...more: readonly Child[]): () => void {
  const messages = document.getElementById("messages");
  const line = h("p", { className: isError ? "bad" : "" }, text, ...more);
  messages?.append(line);
  // What has a button of its own stays until that has no use any more.
  if (more.length === 0) setTimeout(() => line.remove(), isError ? 12_000 : 4_000);
  return () => line.remove();
}

/** Takes away all that was said: it was about somebody who is not here any more. */
export function hush(): void {
  document.getElementById("messages")?.replaceChildren();
}

/** Runs what a person asked for; what fails is shown. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    tell(messageOf(error), true);
    return false;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Asks before something that can't be taken back easily. `yes`: what the button says. */
export function ask(title: string, text: string, yes: string): Promise<boolean> {
  const dialog = h("dialog", { aria: { label: title } });
  return new Promise((resolve) => {
    const answer = (is: boolean) => (): void => {
      dialog.close();
      resolve(is);
    };
    const cancel = button("Cancel", answer(false), "second");
    cancel.autofocus = true;
    const buttons = h("p", { className: "buttons" }, cancel, button(yes, answer(true), "danger"));
    dialog.append(h("h2", {}, title), h("p", {}, text), buttons);
    // Escape closes it too.
    dialog.onclose = () => {
      resolve(false);
      dialog.remove();
    };
    document.body.append(dialog);
    dialog.showModal();
  });
}
