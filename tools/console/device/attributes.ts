// Attributes of the three scopes. Shared and server ones can be set and deleted here; client ones are the device's own.
import type { Scope } from "../../operator/shapes.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { ask, attempt, button, field, form, h, option, section, tell } from "../dom.js";
import { shown } from "../model/format.js";
import { guardOf } from "../model/guard.js";
import { type Part, type Place, unlessGone } from "../page.js";
import { type Cell, Table } from "../table.js";

const SCOPES = { shared: "SHARED_SCOPE", client: "CLIENT_SCOPE", server: "SERVER_SCOPE" } as const;
type Name = keyof typeof SCOPES;
const COLUMNS = [{ text: "Key" }, { text: "Value" }, { text: "", size: "middle" }] as const;
/** What the platform writes by itself. */
const ITS_OWN = ["active", "lastActivityTime"];

interface Editor {
  element: HTMLElement;
  take(scope: Name, key: string, value: unknown): void;
}

export function attributesPart(place: Place): Part {
  const { session, device } = place;
  const id = device.id.id;
  const lists = (Object.keys(SCOPES) as Name[]).map((name) => ({
    ...{ name, values: {} as Record<string, unknown> },
    table: new Table(COLUMNS, { empty: "none", label: `${name} attributes` }),
  }));
  const editor = edit(place);
  const draw = (): void => {
    for (const { name, values, table } of lists) {
      const rows = Object.entries(values)
        .filter(([key]) => name !== "server" || !ITS_OWN.includes(key))
        .sort(([one], [other]) => one.localeCompare(other));
      table.show(
        rows.map(([key, value]) => ({
          id: key,
          cells: [key, shown(value), actions(place, { scope: name, key, value, take: editor.take })],
        })),
      );
    }
  };
  const look = async (list: (typeof lists)[number]): Promise<void> => {
    list.values = await session.operator.attributes.get(id, SCOPES[list.name]);
    draw();
  };
  const read = (list: (typeof lists)[number]): void => void look(list).catch(unlessGone);
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
  const tables = lists.flatMap(({ name, table }) => [h("h3", {}, name), table.element]);
  return {
    element: section("Attributes", "card tall", ...tables, editor.element),
    end: () => {
      for (const end of ends) end();
    },
  };
}

interface Entry {
  scope: Name;
  key: string;
  value: unknown;
  take: Editor["take"];
}

function actions(place: Place, { scope, key, value, take }: Entry): Cell {
  const { session, device } = place;
  if (scope === "client") return "";
  const query = new URLSearchParams({ keys: key });
  const path = `/api/plugins/telemetry/DEVICE/${encodeURIComponent(device.id.id)}/${SCOPES[scope]}?${query}`;
  const waits = session.deletions.has(path);
  const remove = async (): Promise<void> => {
    const guard = guardOf(scope, key, await updateState(place));
    const usual = `The device is notified that the ${scope} attribute is gone. For ten seconds it can be undone.`;
    await session.deletions.ask({ path, name: `attribute ${key}` }, guard ?? usual);
  };
  const make = (): Node => {
    const editing = button("Edit", () => take(scope, key, value), "plain");
    editing.ariaLabel = `Edit ${key}`;
    const deleting = button("Delete", () => attempt(remove), "plain");
    deleting.ariaLabel = `Delete ${key}`;
    return h("span", { className: "actions" }, ...(waits ? ["deleting"] : [editing, deleting]));
  };
  return { is: `${waits}${shown(value)}`, make };
}

/** `fw_state` as it is now. */
async function updateState({ session, device }: Place): Promise<unknown> {
  return (await session.operator.timeSeries.latest(device.id.id, ["fw_state"])).fw_state?.value;
}

/** The form that sets one. A value is JSON: text needs its quotes, so that 7 and "7" stay apart. */
function edit(place: Place): Editor {
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
    const guard = guardOf(name, of, await updateState(place));
    if (guard && !(await ask(`Set ${of} during an update?`, guard, "Set it all the same"))) return;
    const where = SCOPES[name] as Exclude<Scope, "CLIENT_SCOPE">;
    await session.operator.attributes.set(device.id.id, where, { [of]: JSON.parse(json) as unknown });
    tell(`${of} is set.`);
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
  const take: Editor["take"] = (name, of, old) => {
    scope.value = name;
    key.value = of;
    value.value = JSON.stringify(old);
    value.setCustomValidity("");
    value.focus();
  };
  return { element, take };
}

/** Empty if it can be set. */
export function problemOf(text: string): string {
  try {
    if (JSON.parse(text) === null) return "null is not kept: delete the attribute instead";
  } catch {
    return 'This is no JSON. Text needs quotes: "text"';
  }
  return lossyNumber(text) === undefined ? "" : "This number would be rounded: send it as text";
}
