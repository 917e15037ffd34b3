import { h, menu, show } from "../dom.js";

/** Keys listed at a time. The search field finds the others. */
const LISTED = 40;

/** Chooses which of the device's keys are drawn. */
export class KeyChoice {
  readonly element: HTMLDetailsElement;
  readonly #all = new Set<string>();
  readonly #chosen = new Set<string>();
  readonly #summary = h("summary", {});
  readonly #search = h("input", { type: "text", placeholder: "part of a key", autocomplete: "off" });
  readonly #list = h("div", { className: "keys" });
  readonly #onChange: () => void;
  /** Once the operator chose, new keys are not drawn by themselves. */
  #isOwn = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#search.ariaLabel = "Find a key";
    this.#search.oninput = () => this.#draw();
    this.element = menu(this.#summary, this.#search, this.#list);
    this.element.addEventListener("toggle", () => this.#draw());
    this.#draw();
  }

  /** The chosen keys, by name. */
  get keys(): string[] {
    return [...this.#chosen].sort((one, other) => one.localeCompare(other));
  }

  has(key: string): boolean {
    return this.#chosen.has(key);
  }

  /** Adds a key. It is drawn if fewer than `most` are, and the operator has not chosen. */
  offer(key: string, most: number): void {
    if (this.#all.has(key)) return;
    this.#all.add(key);
    if (!this.#isOwn && this.#chosen.size < most) this.#chosen.add(key);
    this.#draw();
  }

  #draw(): void {
    show(this.#summary, `Keys: ${this.#chosen.size} of ${this.#all.size}`);
    if (!this.element.open) return;
    const search = this.#search.value.toLowerCase();
    const found = [...this.#all]
      .filter((key) => key.toLowerCase().includes(search))
      .sort((one, other) => one.localeCompare(other));
    const more = found.length - LISTED;
    this.#list.replaceChildren(
      ...found.slice(0, LISTED).map((key) => this.#item(key)),
      ...(more > 0 ? [h("p", { className: "quiet" }, `${more} more. Search for them by name.`)] : []),
      ...(found.length === 0 ? [h("p", { className: "quiet" }, "No key matches.")] : []),
    );
  }

  #item(key: string): HTMLElement {
    const box = h("input", { type: "checkbox", checked: this.#chosen.has(key) });
    box.onchange = () => {
      this.#isOwn = true;
      if (box.checked) this.#chosen.add(key);
      else this.#chosen.delete(key);
      this.#summary.textContent = `Keys: ${this.#chosen.size} of ${this.#all.size}`;
      this.#onChange();
    };
    return h("label", { className: "check" }, box, h("span", { className: "cut", title: key }, key));
  }
}
