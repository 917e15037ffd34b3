// Attributes of the three scopes. Shared and server ones can be set and deleted here; client ones are the device's own.
import type { Scope } from "../operator/shapes.js";
import { lossyNumber } from "../operator/typed-json.js";
import { attempt, button, field, form, h, option, section, shown, table, tell } from "./dom.js";
import type { Part, Place } from "./page.js";

const SCOPES = { shared: "SHARED_SCOPE", client: "CLIENT_SCOPE", server: "SERVER_SCOPE" } as const;
type Name = keyof typeof SCOPES;

export function attributesPart(place: Place): Part {
  const { session, device } = place;
  const id = device.id.id;
  const lists = (Object.keys(SCOPES) as Name[]).map((name) => ({ name, place: h("div", {}) }));
  const editor = edit(place);
  const read = async (name: Name, list: HTMLElement): Promise<void> => {
    const values = await session.operator.attributes.get(id, SCOPES[name]);
    const rows = Object.entries(values)
      .filter(([key]) => key !== "lastActivityTime")
      .sort(([one], [other]) => one.localeCompare(other))
      .map(([key, value]) => [key, shown(value), actions(place, name, key, value, editor.take)]);
    list.replaceChildren(
      h("h3", {}, name),
      rows.length > 0 ? table(["Key", "Value", ""], rows) : h("p", { className: "quiet" }, "none"),
    );
  };
  const readAll = (): void => {
    for (const list of lists) void read(list.name, list.place);
  };
  readAll();
  const ends = [
    session.on("attributes", ({ deviceId, scope }) => {
      const list = lists.find(({ name }) => SCOPES[name] === scope);
      if (deviceId === id && list) void read(list.name, list.place);
    }),
    session.on("line", ({ up }) => up && readAll()),
  ];
  return {
    element: section("Attributes", "card tall", ...lists.map((list) => list.place), editor.element),
    end: () => {
      for (const end of ends) end();
    },
  };
}

function actions(
  { session, device }: Place,
  scope: Name,
  key: string,
  value: unknown,
  take: (scope: Name, key: string, value: unknown) => void,
): HTMLElement | undefined {
  if (scope === "client") return undefined;
  const remove = (): Promise<boolean> =>
    attempt(() => session.operator.attributes.delete(device.id.id, SCOPES[scope], [key]));
  const editing = button("Edit", () => take(scope, key, value), "plain");
  editing.ariaLabel = `Edit ${key}`;
  const deleting = button("Delete", remove, "plain");
  deleting.ariaLabel = `Delete ${key}`;
  return h("span", { className: "actions" }, editing, deleting);
}

/** The form that sets one. A value is JSON: text needs its quotes, so that 7 and "7" stay apart. */
function edit({ session, device }: Place): {
  element: HTMLElement;
  take: (scope: Name, key: string, value: unknown) => void;
} {
  const scope = h("select", {}, option("shared"), option("server"));
  const key = h("input", { required: true, autocomplete: "off", spellcheck: false });
  const value = h("input", {
    required: true,
    autocomplete: "off",
    spellcheck: false,
    placeholder: '30, true, "text", {…}',
  });
  value.oninput = () => value.setCustomValidity(problemOf(value.value));
  const element = form(
    { label: "Set an attribute" },
    () => {
      const set = { [key.value]: JSON.parse(value.value) as unknown };
      const where = SCOPES[scope.value as Name] as Exclude<Scope, "CLIENT_SCOPE">;
      void attempt(() => session.operator.attributes.set(device.id.id, where, set)).then((done) => {
        if (done) tell(`${key.value} is set.`);
      });
    },
    field("Scope", scope),
    field("Key", key),
    field("Value (JSON)", value, "grow"),
    h("button", { type: "submit" }, "Set"),
  );
  const take = (name: Name, of: string, old: unknown): void => {
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
