import { h } from "../dom.js";

/** So many are listed at a time: of more the field finds them. */
const LISTED = 40;

/** Which of the device's keys are drawn. */
export class KeyChoice {
  readonly element: HTMLDetailsElement;
  readonly #all = new Set<string>();
  readonly #chosen = new Set<string>();
  readonly #summary = h("summary", {});
  readonly #search = h("input", { type: "text", placeholder: "part of a key", autocomplete: "off" });
  readonly #list = h("div", { className: "keys" });
  readonly #onChange: () => void;
  /** After somebody chose, no key is chosen by itself. */
  #isOwn = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
    this.#search.ariaLabel = "Find a key";
    this.#search.oninput = () => this.#draw();
    this.element = h("details", { className: "menu" }, this.#summary, h("div", {}, this.#search, this.#list));
    this.element.addEventListener("toggle", () => this.#draw());
    this.element.addEventListener("keydown", ({ key }) => {
      if (key === "Escape") this.#close();
    });
    this.element.addEventListener("focusout", ({ relatedTarget }) => {
      if (relatedTarget instanceof Node && !this.element.contains(relatedTarget)) this.element.open = false;
    });
    this.#draw();
  }

  /** Those that are drawn, by name. */
  get keys(): string[] {
    return [...this.#chosen].sort((one, other) => one.localeCompare(other));
  }

  has(key: string): boolean {
    return this.#chosen.has(key);
  }

  /** There is a key of that name; it is drawn if fewer than `most` are and nobody chose. */
  offer(key: string, most: number): void {
    if (this.#all.has(key)) return;
    this.#all.add(key);
    if (!this.#isOwn && this.#chosen.size < most) this.#chosen.add(key);
    this.#draw();
  }

  #close(): void {
    this.element.open = false;
    this.#summary.focus();
  }

  #draw(): void {
    const text = `Keys: ${this.#chosen.size} of ${this.#all.size}`;
    if (this.#summary.textContent !== text) this.#summary.textContent = text;
    if (!this.element.open) return;
    const search = this.#search.value.toLowerCase();
    const found = [...this.#all]
      .filter((key) => key.toLowerCase().includes(search))
      .sort((one, other) => one.localeCompare(other));
    const more = found.length - LISTED;
    this.#list.replaceChildren(
      ...found.slice(0, LISTED).map((key) => this.#item(key)),
      ...(more > 0 ? [h("p", { className: "quiet" }, `${more} more: find them by name.`)] : []),
      ...(found.length === 0 ? [h("p", { className: "quiet" }, "No such key.")] : []),
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
