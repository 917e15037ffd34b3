import { button, h, show } from "./dom.js";

/** Leads through the pages of a list. Hidden if there is only one. */
export class Pager {
  readonly element: HTMLElement;
  readonly #before: HTMLButtonElement;
  readonly #after: HTMLButtonElement;
  readonly #place = h("span", { className: "quiet", role: "status" });
  #page = 0;

  /** Pages are counted from 0. */
  constructor(go: (page: number) => void) {
    this.#before = button("Previous", () => go(this.#page - 1), "second");
    this.#after = button("Next", () => go(this.#page + 1), "second");
    const label = { label: "Pages" };
    this.element = h("nav", { className: "pager", aria: label }, this.#before, this.#place, this.#after);
    this.show(0, 1);
  }

  show(page: number, pages: number): void {
    this.#page = page;
    this.element.hidden = pages <= 1;
    this.#before.disabled = page <= 0;
    this.#after.disabled = page >= pages - 1;
    show(this.#place, `page ${page + 1} of ${Math.max(1, pages)}`);
  }
}
