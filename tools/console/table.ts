// Tables that are shown again with every change: only cells that differ are replaced.
import { h, show } from "./dom.js";

export interface Column {
  /** Empty for buttons. */
  text: string;
  /** Width class in the style sheet. Columns without one share the rest. */
  size?: "tiny" | "small" | "middle" | "large";
}

/** Text is truncated to one line. */
export type Cell = string | Node;

export interface Row {
  /** Identifies the row across calls of `show`. */
  id: string;
  cells: readonly Cell[];
}

interface TableOptions {
  label: string;
  /** Shown instead of a table without rows. */
  empty?: string;
  /** Replace the text of a column's header, where given. */
  heads?: readonly (Node | undefined)[];
  /** `compact`: one line per row on a phone too. */
  className?: string;
}

/** Longer text gets a control that opens it. */
const LONG = 28;

/** One line, cut with an ellipsis. Tooltip, copy and opened cell show `whole`. */
export function cut(text: string, whole = text): HTMLElement {
  if (whole.length <= LONG) return h("span", { className: "cut", title: whole }, text);
  return h("details", { className: "cut" }, h("summary", { title: whole }, text), h("pre", {}, whole));
}

export class Table {
  readonly element: HTMLElement;
  readonly #columns: readonly Column[];
  readonly #body = h("tbody", {});
  readonly #table: HTMLTableElement;
  readonly #empty: HTMLElement;
  readonly #rows = new Map<string, HTMLTableRowElement>();

  constructor(columns: readonly Column[], { label, empty = "", heads = [], className = "" }: TableOptions) {
    this.#columns = columns;
    const head = columns.map(({ text, size }, i) =>
      h(
        "th",
        { scope: "col", className: size ?? "" },
        heads[i] ?? (text || h("span", { className: "said" }, "Actions")),
      ),
    );
    this.#table = h(
      "table",
      { className, aria: { label } },
      h("thead", {}, h("tr", {}, ...head)),
      this.#body,
    );
    this.#empty = h("p", { className: "quiet" }, empty);
    this.element = h("div", {}, this.#table, this.#empty);
    this.show([]);
  }

  set empty(text: string) {
    show(this.#empty, text);
  }

  get heads(): HTMLTableCellElement[] {
    return [...this.#table.tHead!.rows[0]!.cells];
  }

  show(rows: readonly Row[]): void {
    this.#table.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    const ids = new Set(rows.map(({ id }) => id));
    for (const [id, element] of this.#rows) {
      if (ids.has(id)) continue;
      element.remove();
      this.#rows.delete(id);
    }
    let before: Element | null = this.#body.firstElementChild;
    for (const row of rows) {
      const element = this.#draw(row);
      if (element === before) before = before.nextElementSibling;
      else this.#body.insertBefore(element, before);
    }
  }

  #draw({ id, cells }: Row): HTMLTableRowElement {
    const element = this.#rows.get(id) ?? this.#newRow();
    this.#rows.set(id, element);
    cells.forEach((cell, i) => {
      const place = element.cells[i];
      if (!place) return;
      const node = typeof cell === "string" ? cut(cell) : cell;
      // An opened value stays open.
      if (node instanceof HTMLDetailsElement) node.open = place.querySelector("details")?.open === true;
      show(place, node);
    });
    return element;
  }

  #newRow(): HTMLTableRowElement {
    const cells = this.#columns.map(({ text, size }) =>
      h("td", { className: size ?? "", data: { head: text } }),
    );
    return h("tr", {}, ...cells);
  }
}

/** Copies the whole value of a truncated cell, with the sender's line breaks. */
export function copyWhole(event: ClipboardEvent): void {
  const selection = getSelection();
  if (selection?.rangeCount !== 1 || !event.clipboardData) return;
  const { startContainer, endContainer } = selection.getRangeAt(0);
  const place = elementOf(startContainer)?.closest<HTMLElement>(".cut[title], .cut > summary[title]");
  if (!place || elementOf(endContainer)?.closest(".cut[title], .cut > summary[title]") !== place) return;
  const isWhole = selection.toString().trim() === place.innerText.trim();
  if (!isWhole) return;
  event.clipboardData.setData("text/plain", place.title);
  event.preventDefault();
}

const elementOf = (node: Node): Element | null => (node instanceof Element ? node : node.parentElement);
