// Templates, dialogs and messages of all pages. lit sets a device's text only ever as text.
import { html, render, type TemplateResult } from "lit-html";
import { repeat } from "lit-html/directives/repeat.js";
import type { Session } from "./session.js";

export { html, type TemplateResult };

export interface Context {
  readonly session: Session;
  /** Reads the page's data again at once, and draws it. */
  refresh(): void;
}

/** One page. `read` is called every second, and `view` after each of its ends. */
export interface Page {
  /** Names the browser tab. */
  readonly title: string;
  read(): Promise<void>;
  view(): TemplateResult;
  /** Called once the view is in the document. */
  drawn?(): void;
}

/** Text, or elements. */
export type Cell = string | TemplateResult;

export interface Row {
  /** The row keeps its elements as long as it has the same id. */
  readonly id: string;
  readonly cells: readonly Cell[];
}

/** Longer text is folded, and its summary has so many characters. */
const [LONG, SUMMARY] = [200, 80];

const cellOf = (cell: Cell): Cell =>
  typeof cell !== "string" || cell.length <= LONG
    ? cell
    : html`<details><summary>${cell.slice(0, SUMMARY)}…</summary><pre>${cell}</pre></details>`;

export function table(
  label: string,
  heads: readonly string[],
  rows: readonly Row[],
  empty: string,
): TemplateResult {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  const body = repeat(
    rows,
    ({ id }) => id,
    ({ cells }) => html`<tr>${cells.map((cell) => html`<td>${cellOf(cell)}</td>`)}</tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${`${label}, scrollable`}>
    <table aria-label=${label}>
      <thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
      <tbody>${body}</tbody>
    </table>
  </div>`;
}

/** Pages are counted from 0. */
export function pager(page: number, pages: number, go: (page: number) => void): TemplateResult {
  return html`<nav class="pager" aria-label="Pages" ?hidden=${pages <= 1}>
    <button class="second" ?disabled=${page <= 0} @click=${() => go(page - 1)}>Previous</button>
    <span class="quiet" role="status">page ${page + 1} of ${Math.max(1, pages)}</span>
    <button class="second" ?disabled=${page >= pages - 1} @click=${() => go(page + 1)}>Next</button>
  </nav>`;
}

/** A choice among texts. `chosen`: the first one to show. */
export const options = (texts: readonly string[], chosen?: string): TemplateResult[] =>
  texts.map((text) => html`<option value=${text} ?selected=${text === chosen}>${text}</option>`);

/** Calls `send` with the values of a form's named fields, in place of the browser's own request. */
export const onSubmit =
  (send: (values: Record<string, string>) => Promise<unknown>) =>
  (event: SubmitEvent): void => {
    event.preventDefault();
    const values = new FormData(event.currentTarget as HTMLFormElement);
    void send(Object.fromEntries(values) as Record<string, string>);
  };

/** Announces a text, also to screen readers: for 4 s, an error for 12 s. */
export function showToast(text: string, isError = false): void {
  const line = document.createElement("p");
  line.textContent = text;
  line.className = isError ? "bad" : "";
  document.getElementById("messages")?.append(line);
  setTimeout(() => line.remove(), isError ? 12_000 : 4_000);
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Runs an action of the operator, and shows its error. True if it succeeded. */
export async function attempt(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    showToast(messageOf(error), true);
    return false;
  }
}

/** Opens a modal dialog, which Escape and `close` remove. */
export function openDialog(title: string, view: (close: () => void) => TemplateResult): { draw(): void } {
  const element = document.createElement("dialog");
  element.ariaLabel = title;
  // Removed at once: it may show a token.
  const close = (): void => {
    element.close();
    element.remove();
  };
  element.addEventListener("close", () => element.remove());
  const draw = (): void => void render(html`<h2>${title}</h2>${view(close)}`, element);
  draw();
  document.body.append(element);
  element.showModal();
  return { draw };
}

/** Asks for confirmation. `yes`: the text of the confirming button. */
export function ask(title: string, text: string, yes: string): Promise<boolean> {
  return new Promise((resolve) => {
    const end = (close: () => void, answer: boolean) => (): void => {
      close();
      resolve(answer);
    };
    openDialog(
      title,
      (close) => html`<p>${text}</p>
        <p class="buttons">
          <button class="second" autofocus @click=${end(close, false)}>Cancel</button>
          <button class="danger" @click=${end(close, true)}>${yes}</button>
        </p>`,
    );
  });
}

/** Asks, deletes, and says so. */
export async function askToDelete(
  name: string,
  text: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  if (!(await ask(`Delete ${name}?`, text, "Delete"))) return false;
  const isDone = await attempt(work);
  if (isDone) showToast(`Deleted ${name}.`);
  return isDone;
}
