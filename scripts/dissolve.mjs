// Functions of one expression stand where they are called if that takes less than the calls and the function: 15 bytes of code and 8 for each parameter, and six slots.
import { rounds } from "./edits.mjs";
import { isHidden } from "./fold.mjs";
import { assignedNames, changes, placeOf } from "./order.mjs";
import { analyse, isStill, partsOf } from "./scopes.mjs";
import { sizeOf } from "./size.mjs";
import { isFunction } from "./syntax.mjs";

/** The same program with fewer functions. Throws if `text` is none. */
export const dissolve = (text) => rounds(text, editsOf);

function editsOf(tree) {
  const variables = analyse(tree);
  const assigned = assignedNames(tree);
  const edits = [];
  const taken = [];
  for (const variable of variables) {
    const made = madeOf(variable);
    const value = made && expressionOf(made);
    if (!value || variable.uses.length === 0) continue;
    const params = variables.filter((one) => one.owner === made && one.kind === "param");
    const sites = variable.uses.map((use) => siteOf(use, made, value, params, assigned));
    if (!sites.every(Boolean) || gainOf(value, params, sites) < 0) continue;
    const { start, end } = variable.declared.parent;
    // What stands in another is seen in the next round.
    const around = [{ start, end }, ...variable.uses.map(({ node }) => node)];
    if (
      taken.some(
        ({ declared, uses }) =>
          around.some((one) => isIn(one, declared)) || uses.some((one) => isIn(one, around[0])),
      )
    )
      continue;
    taken.push({ declared: around[0], uses: around.slice(1) });
    edits.push({ start, end, parts: [] }, ...sites.map((site) => editOf(site, value)));
  }
  return edits;
}

const isIn = (one, other) => one.start >= other.start && one.end <= other.end;

/** The arrow function that a constant of the module is. */
function madeOf({ kind, owner, declared }) {
  if (kind !== "const" || owner.type !== "Program" || declared.type !== "VariableDeclarator")
    return undefined;
  const { init, parent } = declared;
  if (
    init?.type !== "ArrowFunctionExpression" ||
    init.async ||
    parent.declarations.length > 1 ||
    parent.parent.type !== "Program"
  )
    return undefined;
  return init.params.every(({ type }) => type === "Identifier") ? init : undefined;
}

function expressionOf({ body }) {
  let only = body;
  while (only?.type === "BlockStatement") only = only.body.length === 1 ? only.body[0] : undefined;
  const value = only?.type === "ReturnStatement" ? only.argument : only;
  return value && !/Statement|Declaration/.test(value.type) && !hasThis(value) ? value : undefined;
}

const hasThis = (node) => /^(?:This|Super|Await|Yield)/.test(node.type) || partsOf(node).some(hasThis);

/** A call that the value can stand for: what it is given is the same there, or is looked at first of all. */
function siteOf({ node, scope }, made, value, params, assigned) {
  const call = node.parent;
  if (call.type !== "CallExpression" || call.callee !== node || call.optional || isHidden(value, scope, made))
    return undefined;
  if (call.arguments.length !== params.length || isIn(node, made)) return undefined;
  const given = new Map();
  for (const [at, param] of params.entries()) {
    const argument = call.arguments[at];
    if (argument.type === "SpreadElement" || !isStill(param)) return undefined;
    if (
      !isFree(argument, value) ||
      !(isSame(argument, param, value) || isFirst(argument, param, value, assigned))
    )
      return undefined;
    given.set(param, argument);
  }
  // Two that are found out would have to keep their order.
  if ([...given.values()].filter((one) => !isPlain(one)).length > 1) return undefined;
  return { call, given };
}

/** Whether no function within `value` has a name for something else that `argument` names. */
function isFree(argument, value) {
  const names = new Set(idsIn(argument));
  const isMade = (node) =>
    node.params?.some((param) => idsIn(param).some((name) => names.has(name))) || partsOf(node).some(isMade);
  return !isMade(value) || !hasNames(value, names);
}

const hasNames = (node, names) =>
  (node.variable?.id === node && names.has(node.name)) || partsOf(node).some((part) => hasNames(part, names));
const idsIn = (node) => (node.type === "Identifier" ? [node.name] : partsOf(node).flatMap(idsIn));

/** A name or a value that needs no finding out. */
const isPlain = ({ type, regex, operator, argument }) =>
  /^(?:Identifier|ThisExpression)$/.test(type) ||
  (type === "Literal" && !regex) ||
  (type === "UnaryExpression" && operator === "void" && argument.type === "Literal");

/** Whether it is the same wherever the value asks for it. */
function isSame(argument, param, value) {
  if (!isPlain(argument)) return false;
  const { variable } = argument;
  if (!variable || isStill(variable)) return argument.type !== "ThisExpression" || !hasFunction(value);
  const isHeld =
    variable.owner.type === "Program" || variable.uses.some(({ owner }) => owner !== variable.owner);
  return !param.uses.some(({ owner }) => owner !== param.owner) && (!isHeld || !changes(value));
}

const hasFunction = (node) =>
  (isFunction(node) && node.type !== "ArrowFunctionExpression") || partsOf(node).some(hasFunction);

function isFirst(argument, param, value, assigned) {
  const [use, ...others] = param.uses;
  return (
    use &&
    others.length === 0 &&
    placeOf(param, { type: "ReturnStatement", argument: value }, argument, assigned) === use.node
  );
}

/** Bytes of code; the function's slots and its name, a hundred bytes, count as 12. */
function gainOf(value, params, sites) {
  const size = sizeOf(value);
  let gain = size + 12 + 8 * params.length + 12;
  for (const { given } of sites) {
    gain += 6 - size;
    for (const [{ uses }, argument] of given) gain += sizeOf(argument) - uses.length * (sizeOf(argument) - 2);
  }
  return gain;
}

function editOf({ call, given }, value) {
  const uses = [...given].flatMap(([{ uses }, argument]) => uses.map(({ node }) => ({ node, argument })));
  uses.sort((a, b) => a.node.start - b.node.start);
  const parts = ["("];
  let at = value.start;
  for (const { node, argument } of uses) {
    const isShorthand = node.parent.type === "Property" && node.parent.shorthand;
    parts.push({ start: at, end: node.start }, isShorthand ? `${node.name}: (` : "(", argument, ")");
    at = node.end;
  }
  return { start: call.start, end: call.end, parts: [...parts, { start: at, end: value.end }, ")"] };
}
