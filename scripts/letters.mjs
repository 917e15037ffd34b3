// The compiler keeps the name of each variable: a name that nothing else has takes 21 bytes and its text of ROM. Variables of functions become letters then.
import { parse } from "acorn";
import { withEdits } from "./edits.mjs";
import { analyse, partsOf } from "./scopes.mjs";
import { isFunction } from "./syntax.mjs";

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];

/** The same program. Functions keep their names, by which a crash is read. Throws if `text` is none. */
export function letters(text) {
  const tree = parse(text, { ecmaVersion: "latest", sourceType: "module" });
  const variables = analyse(tree);
  const kept = keptIn(tree);
  for (const { name, owner } of variables) if (owner === tree) kept.add(name);
  const used = new Map();
  const edits = [];
  for (const variable of variables) {
    const { name, owner, kind } = variable;
    if (
      owner === tree ||
      kept.has(name) ||
      name.length === 1 ||
      isNamed(variable) ||
      / in a pattern$/.test(kind)
    )
      continue;
    const whole = outermost(owner);
    if (!used.has(whole)) used.set(whole, namesIn(whole));
    const letter = LETTERS.find((one) => !used.get(whole).has(one));
    if (!letter) continue;
    used.get(whole).add(letter);
    for (const { start, end, parent } of [variable.id, ...variable.uses.map(({ node }) => node)])
      edits.push({
        start,
        end,
        parts: [parent?.type === "Property" && parent.shorthand ? `${name}: ${letter}` : letter],
      });
  }
  return withEdits(text, edits);
}

/** Names of properties. */
function keptIn(node, names = new Set()) {
  const key = node.type === "MemberExpression" ? node.property : node.key;
  if (key?.type === "Identifier" && !node.computed) names.add(key.name);
  for (const part of partsOf(node)) keptIn(part, names);
  return names;
}

/** Whether a function is called after the variable. */
const isNamed = ({ kind, declared }) =>
  /^(?:function|class)/.test(kind) ||
  (declared.init && (isFunction(declared.init) || /^Class/.test(declared.init.type)));

function outermost(owner) {
  for (let at = owner.parent, found = owner; ; at = at.parent) {
    if (!at) return found;
    if (isFunction(at)) found = at;
  }
}

function namesIn(node, names = new Set()) {
  if (node.type === "Identifier") names.add(node.name);
  for (const part of partsOf(node)) namesIn(part, names);
  return names;
}
