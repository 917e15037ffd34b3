// Attributes of the three scopes. Client attributes belong to the device: the console only shows
// them.
import { createRef, ref } from "lit-html/directives/ref.js";
import { isPlatforms } from "../../operator/platform-keys.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { readable } from "../model/format.js";
import {
  askToDelete,
  attempt,
  type Cell,
  html,
  onSubmit,
  options,
  showToast,
  type TemplateResult,
  table,
} from "../ui.js";
import type { Part, Place } from "./part.js";

const SCOPES = { shared: "SHARED_SCOPE", client: "CLIENT_SCOPE", server: "SERVER_SCOPE" } as const;
type Scope = keyof typeof SCOPES;
const NAMES = Object.keys(SCOPES) as Scope[];

/** What Mote or the platform itself writes is folded away. */
const isDiagnostic = (scope: Scope, key: string): boolean =>
  scope !== "shared" && (/^mote[A-Z]/.test(key) || (scope === "server" && isPlatforms(scope, key)));

export class Attributes implements Part {
  readonly title = "Attributes";
  readonly #place: Place;
  readonly #form = createRef<HTMLFormElement>();
  #values: Partial<Record<Scope, Record<string, unknown>>> = {};

  constructor(place: Place) {
    this.#place = place;
  }

  async read(): Promise<void> {
    const { id, session } = this.#place;
    for (const name of NAMES) this.#values[name] = await session.operator.attributes.get(id, SCOPES[name]);
  }

  view(): TemplateResult {
    return html`${NAMES.map((name) => this.#list(name))}
      <form class="row" aria-label="Set an attribute" ${ref(this.#form)} @submit=${onSubmit((values) => this.#set(values))}>
        <label>Scope<select name="scope">${options(["shared", "server"])}</select></label>
        <label>Key<input name="key" required autocomplete="off" spellcheck="false" /></label>
        <label class="grow">Value (JSON)<input name="json" required autocomplete="off" spellcheck="false" placeholder='30, true, "text", {…}' /></label>
        <button>Set</button>
      </form>`;
  }

  #list(scope: Scope): TemplateResult {
    const keys = Object.keys(this.#values[scope] ?? {}).sort((one, other) => one.localeCompare(other));
    const folded = keys.filter((key) => isDiagnostic(scope, key));
    const rows = (of: readonly string[]): TemplateResult =>
      table(
        `${scope} attributes`,
        ["Key", "Value", ...(scope === "client" ? [] : ["Actions"])],
        of.map((key) => ({ id: key, cells: this.#cells(scope, key) })),
        "No attributes.",
      );
    return html`<h3>${scope.charAt(0).toUpperCase() + scope.slice(1)}</h3>
      ${rows(keys.filter((key) => !folded.includes(key)))}
      <details ?hidden=${folded.length === 0}><summary>Diagnostics (${folded.length})</summary>${rows(folded)}</details>`;
  }

  #cells(scope: Scope, key: string): Cell[] {
    const value = this.#values[scope]?.[key];
    const shown = [key, readable(key, value, Date.now())];
    if (scope === "client") return shown;
    if (isPlatforms(scope, key)) return [...shown, ""];
    return [
      ...shown,
      html`<button class="plain" aria-label="Edit ${key}" @click=${() => this.#edit(scope, key)}>Edit</button>
        <button class="plain" aria-label="Delete ${key}" @click=${() => this.#delete(scope, key)}>Delete</button>`,
    ];
  }

  #edit(scope: Scope, key: string): void {
    const fields = this.#form.value!.elements as unknown as Record<string, HTMLInputElement>;
    const texts = { scope, key, json: JSON.stringify(this.#values[scope]?.[key]) };
    for (const [name, text] of Object.entries(texts)) fields[name]!.value = text;
    fields.json!.focus();
  }

  async #delete(scope: Scope, key: string): Promise<void> {
    const { id, session, refresh } = this.#place;
    const text = `The platform tells the device that the ${scope} attribute is gone. You cannot undo this.`;
    await askToDelete(`attribute ${key}`, text, () =>
      session.operator.attributes.delete(id, SCOPES[scope], [key]),
    );
    refresh();
  }

  #set({ scope = "", key = "", json = "" }: Record<string, string>): Promise<unknown> {
    const { id, session, refresh } = this.#place;
    return attempt(async () => {
      const name = scope as "shared" | "server";
      if (isPlatforms(name, key)) throw new Error(`The platform itself sets ${key}.`);
      await session.operator.attributes.set(id, SCOPES[name], { [key]: parsed(json) });
      showToast(`Set ${key}.`);
      refresh();
    });
  }
}

/** Text needs quotes, so that 7 and "7" differ. Throws for what the platform would change. */
function parsed(json: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new Error('Invalid JSON. Text needs quotes: "text"');
  }
  if (value === null) throw new Error("The platform does not store null: delete the attribute instead.");
  if (lossyNumber(json) !== undefined) throw new Error("This number would be rounded: send it as text.");
  return value;
}
