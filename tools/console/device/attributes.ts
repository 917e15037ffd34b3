// Attributes of the three scopes. Shared and server attributes can be edited; client attributes
// belong to the device.

import { isPlatforms } from "../../operator/platform-keys.js";
import type { Scope } from "../../operator/shapes.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { ask, attempt, button, field, form, h, option, section, showToast } from "../dom.js";
import { isDiagnostic } from "../model/diagnostic.js";
import { readable, shown } from "../model/format.js";
import { guardOf } from "../model/guard.js";
import { endAll, type Part, type Place, unlessGone } from "../page.js";
import { type Cell, cut, type Row, Table } from "../table.js";

const SCOPES = { shared: "SHARED_SCOPE", client: "CLIENT_SCOPE", server: "SERVER_SCOPE" } as const;
type Name = keyof typeof SCOPES;
const TITLES: Record<Name, string> = { shared: "Shared", client: "Client", server: "Server" };
const COLUMNS = [{ text: "Key" }, { text: "Value" }, { text: "", size: "middle" }] as const;

/** The attributes of one scope; those that Mote or the platform writes are folded away. */
class List {
  readonly name: Name;
  readonly elements: readonly HTMLElement[];
  values: Record<string, unknown> = {};
  readonly #own: Table;
  readonly #diagnostic: Table;
  readonly #count = h("summary", {});
  readonly #fold: HTMLElement;

  constructor(name: Name) {
    this.name = name;
    this.#own = new Table(COLUMNS, {
      empty: "No attributes.",
      label: `${name} attributes`,
      className: "compact",
    });
    this.#diagnostic = new Table(COLUMNS, { label: `${name} diagnostics`, className: "compact" });
    this.#fold = h("details", { className: "fold" }, this.#count, this.#diagnostic.element);
    this.elements = [h("h3", {}, TITLES[name]), this.#own.element, this.#fold];
  }

  show(rowOf: (key: string) => Row): void {
    const keys = Object.keys(this.values).sort((one, other) => one.localeCompare(other));
    const folded = keys.filter((key) => isDiagnostic(this.name, key));
    this.#own.show(keys.filter((key) => !folded.includes(key)).map(rowOf));
    this.#diagnostic.show(folded.map(rowOf));
    this.#count.textContent = `Diagnostics (${folded.length})`;
    this.#fold.hidden = folded.length === 0;
  }
}

interface Editor {
  element: HTMLElement;
  edit(scope: Name, key: string, value: unknown): void;
}

export function attributesPart(place: Place): Part {
  const { session, device } = place;
  const id = device.id.id;
  const lists = (Object.keys(SCOPES) as Name[]).map((name) => new List(name));
  const editor = attributeEditor(place);
  const draw = (): void => {
    for (const list of lists)
      list.show((key) => {
        const value = list.values[key];
        return {
          id: key,
          cells: [
            key,
            cut(readable(key, value, Date.now()), shown(value)),
            actions(place, list, key, editor),
          ],
        };
      });
  };
  const look = async (list: List): Promise<void> => {
    list.values = await session.operator.attributes.get(id, SCOPES[list.name]);
    draw();
  };
  const read = (list: List): void => void look(list).catch(unlessGone);
  const readAll = (): void => lists.forEach(read);
  readAll();
  const ends = [
    session.on("attributes", ({ deviceId, scope }) => {
      const list = lists.find(({ name }) => SCOPES[name] === scope);
      if (deviceId === id && list) read(list);
    }),
    session.on("line", ({ up }) => up && readAll()),
    session.deletions.on(draw),
  ];
  return {
    element: section("Attributes", "card", ...lists.flatMap(({ elements }) => elements), editor.element),
    end: endAll(...ends),
  };
}

function actions(place: Place, list: List, key: string, editor: Editor): Cell {
  const { session, device } = place;
  const { name } = list;
  if (name === "client" || isPlatforms(name, key) || !session.isTenant) return "";
  const query = new URLSearchParams({ keys: key });
  const path = `/api/plugins/telemetry/DEVICE/${encodeURIComponent(device.id.id)}/${SCOPES[name]}?${query}`;
  if (session.deletions.has(path)) return h("span", { className: "actions" }, "Deleting…");
  const remove = async (): Promise<void> => {
    const guard = guardOf(name, key, await updateState(place));
    const usual = `The platform tells the device that the ${name} attribute is gone. You cannot undo this.`;
    await session.deletions.ask({ path, name: `attribute ${key}` }, guard ?? usual);
  };
  // The row may be older than the value.
  const editing = button("Edit", () => editor.edit(name, key, list.values[key]), "plain");
  editing.ariaLabel = `Edit ${key}`;
  const deleting = button("Delete", () => attempt(remove), "plain");
  deleting.ariaLabel = `Delete ${key}`;
  return h("span", { className: "actions" }, editing, deleting);
}

/** `fw_state` as it is now. */
async function updateState({ session, device }: Place): Promise<unknown> {
  return (await session.operator.timeSeries.latest(device.id.id, ["fw_state"])).fw_state?.value;
}

/** The form that sets an attribute. Text needs quotes, so that 7 and "7" differ. */
function attributeEditor(place: Place): Editor {
  const { session, device } = place;
  const scope = h("select", {}, option("shared"), option("server"));
  const key = h("input", { required: true, autocomplete: "off", spellcheck: false });
  const value = h("input", {
    required: true,
    autocomplete: "off",
    spellcheck: false,
    placeholder: '30, true, "text", {…}',
  });
  value.oninput = () => value.setCustomValidity(problemOf(value.value));
  const set = async (): Promise<void> => {
    const [name, of, json] = [scope.value as Name, key.value, value.value];
    if (isPlatforms(name, of)) throw new Error(`The platform itself sets ${of}.`);
    const guard = guardOf(name, of, await updateState(place));
    if (guard && !(await ask(`Set ${of} during an update?`, guard, "Set anyway"))) return;
    const where = SCOPES[name] as Exclude<Scope, "CLIENT_SCOPE">;
    await session.operator.attributes.set(device.id.id, where, { [of]: JSON.parse(json) as unknown });
    showToast(`Set ${of}.`);
  };
  const element = form(
    { label: "Set an attribute" },
    () => {
      void attempt(set);
    },
    field("Scope", scope),
    field("Key", key),
    field("Value (JSON)", value, "grow"),
    h("button", { type: "submit" }, "Set"),
  );
  const edit: Editor["edit"] = (name, of, old) => {
    scope.value = name;
    key.value = of;
    value.value = JSON.stringify(old);
    value.setCustomValidity("");
    value.focus();
  };
  return { element, edit };
}

/** Empty if the value can be set. */
export function problemOf(text: string): string {
  try {
    if (JSON.parse(text) === null) return "The platform does not store null: delete the attribute instead.";
  } catch {
    return 'Invalid JSON. Text needs quotes: "text"';
  }
  return lossyNumber(text) === undefined ? "" : "This number would be rounded: send it as text.";
}
