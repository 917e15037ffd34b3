// Tables that are drawn again and again: only what changed is touched, so that a focus, a selection and an opened value stay.
import { h } from "./dom.js";

export interface Column {
  text: string;
  /** Of the column, as the style sheet has them; without one it takes what is left. */
  size?: "tiny" | "small" | "middle" | "large";
}

/** Text, or something that is made again when its `is` changes. */
export type Cell = string | { is: string; make: () => Node };

export interface Row {
  /** Which row it is, whatever it shows. */
  id: string;
  cells: readonly Cell[];
}

/** So much fits a column mostly; what is longer can be opened. */
const LONG = 28;

/** One line of text, with an ellipsis where it doesn't fit. The whole is in the tooltip, in a copy, and below it once opened. */
export function cut(text: string): HTMLElement {
  if (text.length <= LONG) return h("span", { className: "cut", title: text }, text);
  return h("details", { className: "cut" }, h("summary", { title: text }, text), h("pre", {}, text));
}

export class Table {
  readonly element: HTMLElement;
  readonly #columns: readonly Column[];
  readonly #body = h("tbody", {});
  readonly #table: HTMLTableElement;
  readonly #empty: HTMLElement;
  readonly #rows = new Map<string, { element: HTMLTableRowElement; cells: readonly Cell[] }>();

  /** `heads`: in place of the columns' texts, for those that do something. */
  constructor(
    columns: readonly Column[],
    { empty, label, heads = [] }: { empty: string; label: string; heads?: readonly (Node | undefined)[] },
  ) {
    this.#columns = columns;
    const head = columns.map(({ text, size }, i) =>
      h("th", { scope: "col", className: size ?? "" }, heads[i] ?? text),
    );
    this.#table = h("table", { aria: { label } }, h("thead", {}, h("tr", {}, ...head)), this.#body);
    this.#empty = h("p", { className: "quiet" }, empty);
    this.element = h("div", {}, this.#table, this.#empty);
    this.show([]);
  }

  set empty(text: string) {
    if (this.#empty.textContent !== text) this.#empty.textContent = text;
  }

  /** The text of the head of each column. */
  get heads(): HTMLTableCellElement[] {
    return [...this.#table.tHead!.rows[0]!.cells];
  }

  show(rows: readonly Row[]): void {
    this.#table.hidden = rows.length === 0;
    this.#empty.hidden = rows.length > 0;
    const ids = new Set(rows.map(({ id }) => id));
    for (const [id, { element }] of this.#rows) {
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
    const known = this.#rows.get(id);
    const element =
      known?.element ??
      h(
        "tr",
        {},
        ...this.#columns.map(({ text, size }) => h("td", { className: size ?? "", data: { head: text } })),
      );
    cells.forEach((cell, i) => {
      const [now, before] = [signOf(cell), signOf(known?.cells[i])];
      const place = element.cells[i];
      if (!place || (known && now === before)) return;
      // An opened value stays open.
      const open = place.querySelector("details")?.open === true;
      place.replaceChildren(typeof cell === "string" ? cut(cell) : cell.make());
      const details = place.querySelector("details");
      if (details) details.open = open;
    });
    this.#rows.set(id, { element, cells });
    return element;
  }
}

function signOf(cell: Cell | undefined): string | undefined {
  return cell === undefined ? undefined : typeof cell === "string" ? `t${cell}` : `n${cell.is}`;
}

/** What is cut off is copied whole, and as it was sent: with its line ends and blanks. */
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
