// Short names for the private fields of a board's classes.
import { parseAst } from "rollup/parseAst";

/** Calls `visit(node, inner)` for `node` and all in it; `inner`: body of the innermost class. */
function walk(node, visit, inner) {
  if (Array.isArray(node)) for (const one of node) walk(one, visit, inner);
  else if (typeof node?.type === "string") {
    visit(node, inner);
    const within = node.type === "ClassBody" ? node : inner;
    for (const value of Object.values(node)) if (typeof value === "object") walk(value, visit, within);
  }
}

/** The identifier of a private member that `node` accesses or declares. */
function privateName({ computed, property, key }) {
  const name = property ?? key;
  return !computed && name?.type === "Identifier" && /^_[a-z]/i.test(name.name) ? name : undefined;
}

/**
 * `code` with private fields called `_1`, `_2` and so on, from `_1` in each class: a board stores
 * each name of a program once, in about 35 bytes. Methods keep their names, because a crash report
 * has them, and so do fields that are used outside their class or in a class with a superclass.
 */
export function shortenPrivateNames(code) {
  const uses = [];
  const kept = new Set();
  const inherits = new Set();
  const fields = new Map();
  walk(parseAst(code), (node, inner) => {
    if (node.superClass) inherits.add(node.body);
    const use = privateName(node);
    if (!use) return;
    uses.push({ ...use, inner });
    if (node.type !== "MemberExpression") kept.add(use.name);
    else if (inner && node.object.type === "ThisExpression")
      fields.set(inner, (fields.get(inner) ?? new Set()).add(use.name));
  });
  for (const { name, inner } of uses)
    if (inherits.has(inner) || !fields.get(inner)?.has(name)) kept.add(name);
  const short = new Map();
  for (const [inner, names] of fields)
    short.set(
      inner,
      Object.fromEntries(
        [...names].filter((name) => !kept.has(name)).map((name, at) => [name, `_${at + 1}`]),
      ),
    );
  let text = "";
  let at = 0;
  for (const { name, inner, start, end } of uses.sort((a, b) => a.start - b.start)) {
    text += code.slice(at, start) + (short.get(inner)?.[name] ?? name);
    at = end;
  }
  return text + code.slice(at);
}
