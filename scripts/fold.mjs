// Variables that are not needed: each costs 6 bytes of code and a slot of the stack, and 2 bytes where it is read.
import { rounds } from "./edits.mjs";
import { assignedNames, placeOf } from "./order.mjs";
import { analyse, isHeld, isStill, lookUp, partsOf } from "./scopes.mjs";
import { isFunction } from "./syntax.mjs";

/**
 * The same program with fewer variables. One that is read once, by the statement that follows, is found out there; one that is another name of a variable that
 * keeps its value, or of a small number, is that. Throws if `text` is no program.
 */
export const fold = (text) => rounds(text, editsOf);

function editsOf(tree) {
  const variables = analyse(tree);
  const assigned = assignedNames(tree);
  const edits = [];
  const touched = new Set();
  for (const variable of variables) {
    const { declared, kind, owner } = variable;
    if (!/^(?:const|let)$/.test(kind) || owner.type === "Program" || !declared.init || !isStill(variable))
      continue;
    const statement = declared.parent;
    const list = listOf(statement);
    if (!list) continue;
    if (statement.declarations.length > 1) {
      if (!touched.has(statement)) edits.push({ ...placed(statement), parts: apart(statement) });
      touched.add(statement);
      continue;
    }
    const isName = isOtherName(declared.init, variable);
    const uses = isName ? variable.uses : [useOf(variable, statement, list, assigned)];
    if (!uses.every(Boolean) || uses.some(({ scope }) => isHidden(declared.init, scope))) continue;
    // What stands at one place after the other is seen in the next round.
    const around = isName ? [statement] : [statement, statementOf(uses[0].node)];
    if (around.some((one) => touched.has(one))) continue;
    for (const one of around) touched.add(one);
    edits.push({ ...placed(statement), parts: [] });
    for (const { node } of uses) edits.push({ ...placed(node), parts: inPlaceOf(node, declared.init) });
  }
  return edits;
}

const placed = ({ start, end }) => ({ start, end });
export const statementOf = (node) => (listOf(node) ? node : statementOf(node.parent));

/** The statements that one stands among. */
export function listOf({ parent, type }) {
  if (!/Statement|Declaration/.test(type)) return undefined;
  if (parent.type === "BlockStatement") return parent.body;
  return parent.type === "SwitchCase" ? parent.consequent : undefined;
}

const apart = ({ kind, declarations }) => declarations.flatMap((one) => [`${kind} `, one, ";\n"]);

/** Whether a value is the same wherever it is asked for. */
function isOtherName(value, variable) {
  if (value.type === "Literal") return Number.isInteger(value.value) && Math.abs(value.value) < 128;
  if (value.type !== "Identifier" || !value.variable || value.variable === variable) return false;
  return isStill(value.variable) && !/ in a pattern|catch|import/.test(value.variable.kind);
}

/** Where it is read, if that is the one place, and its value can be found out there. */
function useOf(variable, statement, list, assigned) {
  const [use, ...others] = variable.uses;
  if (!use || others.length > 0 || isHeld(variable) || isFunction(variable.declared.init)) return undefined;
  if (/^Class/.test(variable.declared.init.type)) return undefined;
  const next = list[list.indexOf(statement) + 1];
  return next && placeOf(variable, next, variable.declared.init, assigned) && use;
}

/** Whether a name of `value` means something else in `scope`; but for those within `own`. */
export function isHidden(value, scope, own = value) {
  const isFree = ({ variable }) => !variable || variable.id.start < own.start || variable.id.end > own.end;
  return namesIn(value).some((one) => isFree(one) && lookUp(scope, one.name) !== one.variable);
}

function namesIn(node) {
  if (node.type === "Identifier") return [node];
  return partsOf(node).flatMap(namesIn);
}

function inPlaceOf({ parent, name }, value) {
  return [parent.shorthand && parent.type === "Property" ? `${name}: (` : "(", value, ")"];
}
