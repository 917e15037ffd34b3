// Builds elements in TypeScript. Text is only ever set as text: markup that a device sends stays
// text.
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

/**
 * Makes these the children of `place`. A child that is equal to the present one is not replaced, so
 * focus and selection stay and a screen reader hears only changes. Its old listeners stay as well:
 * they must read current data.
 */
export function show(place: Element, ...children: readonly Child[]): void {
  const wanted = children.filter((child) => child !== undefined);
  wanted.forEach((child, i) => {
    const node = typeof child === "string" ? document.createTextNode(child) : child;
    const old = place.childNodes[i];
    if (!old) place.append(node);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  });
  while (place.childNodes.length > wanted.length) place.lastChild?.remove();
}

/** A part of the page with its own heading. */
export function section(title: string, className: string, ...children: readonly Child[]): HTMLElement {
  return h("section", { className, aria: { label: title } }, h("h2", {}, title), ...children);
}

/** An input with its label above. */
export function field(label: string, input: HTMLElement, className = ""): HTMLLabelElement {
  return h("label", { className }, h("span", {}, label), input);
}

/** A named form; `onSend` replaces the browser's own request. */
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

/** The page's heading. It also names the browser tab, and gets the focus when the page opens. */
export function heading(text: string): HTMLHeadingElement {
  const element = h("h1", { tabIndex: -1 });
  setHeading(element, text);
  return element;
}

export function setHeading(element: HTMLHeadingElement, text: string): void {
  // A long name may break after a separator.
  element.replaceChildren(...text.split(/(?<=[-_.:/])/).flatMap((part) => [part, h("wbr", {})]));
  element.title = text;
  document.title = titled(text);
}

/**
 * Announces a text, also to screen readers. It disappears after 4 s, an error after 12 s. A toast
 * with more elements stays until the result or `clearToasts` removes it.
 */
export function showToast(text: string, isError = false): void {
  const messages = document.getElementById("messages");
  const line = h("p", { className: isError ? "bad" : "" }, text);
  messages?.append(line);
  setTimeout(() => line.remove(), isError ? 12_000 : 4_000);
}

/** Removes all toasts, for example when another user logs in. */
export function clearToasts(): void {
  document.getElementById("messages")?.replaceChildren();
}

/** Runs an action of the operator; shows its error. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    showToast(messageOf(error), true);
    return false;
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Opens a modal dialog. Escape and `close()` remove it. */
export function dialog(title: string, ...children: readonly Child[]): HTMLDialogElement {
  const element = h("dialog", { aria: { label: title } }, h("h2", {}, title), ...children);
  element.addEventListener("close", () => element.remove());
  document.body.append(element);
  element.showModal();
  return element;
}

/** Asks for confirmation. `yes`: the text of the confirming button. */
export function ask(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (is: boolean) => (): void => {
      resolve(is);
      element.close();
    };
    const cancel = button("Cancel", answer(false), "second");
    cancel.autofocus = true;
    const buttons = h("p", { className: "buttons" }, cancel, button(yes, answer(true), "danger"));
    const element = dialog(title, h("p", {}, text), buttons);
    element.addEventListener("close", answer(false));
  });
}

/** Copies to the clipboard, which browsers allow only at https and localhost. */
export function copyButton(what: string, text: () => string): HTMLButtonElement {
  const copy = button(
    "Copy",
    () =>
      attempt(async () => {
        const clipboard = navigator.clipboard as Clipboard | undefined;
        if (!clipboard)
          throw new Error("This browser allows copying only at https or localhost. Select the text instead.");
        await clipboard.writeText(text());
        showToast(`Copied the ${what}.`);
      }),
    "second",
  );
  copy.ariaLabel = `Copy the ${what}`;
  return copy;
}
