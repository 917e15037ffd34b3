// Variables whose lives do not meet are one: a declaration costs 4 bytes of code more than an assignment, and a slot of the stack.
import { parse } from "acorn";
import { withEdits } from "./edits.mjs";
import { analyse, isHeld, lookUp, loopsAround } from "./scopes.mjs";

/** The same program with fewer variables. Throws if `text` is none. */
export function share(text) {
  const tree = parse(text, { ecmaVersion: "latest", sourceType: "module" });
  const owners = new Map();
  for (const variable of analyse(tree)) {
    if (!isPlain(variable)) continue;
    if (!owners.has(variable.owner)) owners.set(variable.owner, []);
    owners.get(variable.owner).push({ variable, ...lifeOf(variable) });
  }
  const names = new Map();
  const kinds = new Set();
  for (const lives of owners.values()) shareIn(lives, names, kinds);
  return withEdits(text, editsOf(names, kinds));
}

/** Variables of a function that no other function knows. */
function isPlain(variable) {
  const { kind, owner, declared } = variable;
  if (
    owner.type === "Program" ||
    isHeld(variable) ||
    variable.uses.some(({ whole }) => /Pattern|Property|^For/.test(whole.type))
  )
    return false;
  return kind === "param" || (/^(?:const|let)$/.test(kind) && declared.type === "VariableDeclarator");
}

/** From where to where in the text it has a value that is asked for: code runs in the order of the text, but for loops. */
function lifeOf({ kind, declared, owner, uses }) {
  let start = kind === "param" ? owner.body.start : declared.end;
  let end = start;
  const own = new Set(kind === "param" ? [] : loopsAround(declared.parent, owner));
  for (const { node, whole } of uses) {
    end = Math.max(end, whole.end);
    // What a loop finds there the next time.
    for (const loop of loopsAround(node, owner)) {
      if (own.has(loop)) continue;
      start = Math.min(start, loop.start);
      end = Math.max(end, loop.end);
    }
  }
  return { start, end };
}

/** First come, first served: each takes the place that is free since the shortest time. */
function shareIn(lives, names, kinds) {
  lives.sort((a, b) => a.start - b.start || a.variable.id.start - b.variable.id.start);
  const places = [];
  for (const life of lives) {
    const { variable, start, end } = life;
    const free = isGuest(variable)
      ? places.filter((place) => place.end <= start && isOpenTo(variable, place.variable))
      : [];
    const place = free.sort((a, b) => b.end - a.end)[0];
    if (place) {
      names.set(variable, place.variable);
      kinds.add(place.variable);
      place.end = end;
    } else places.push({ variable, end });
  }
}

/** What can be said as an assignment: a declaration in a list of statements. */
function isGuest({ kind, declared }) {
  const list = declared.parent;
  return (
    kind !== "param" &&
    list.declarations.length === 1 &&
    /^(?:BlockStatement|SwitchCase)$/.test(list.parent.type)
  );
}

/** In a function that waits a value is not kept for longer than before. */
function isOpenTo(variable, host) {
  const { scope, owner, uses } = variable;
  if (owner.async || owner.generator ? scope !== host.scope && scope.outer !== host.scope : false)
    return false;
  const isKnown = (from) => lookUp(from, host.name) === host;
  return isKnown(scope) && uses.every((use) => isKnown(use.scope));
}

function editsOf(names, kinds) {
  const edits = [];
  for (const [variable, host] of names) {
    const { declared, uses } = variable;
    const { start, end } = declared.parent;
    const from = declared.init?.variable;
    const isSame = from && (names.get(from) ?? from) === host;
    const value = declared.init ? ["(", declared.init, ")"] : ["void 0"];
    edits.push({ start, end, parts: isSame ? [] : [`${host.name} = `, ...value, ";"] });
    for (const { node } of uses)
      edits.push({
        start: node.start,
        end: node.end,
        parts: [isShorthand(node) ? `${node.name}: ${host.name}` : host.name],
      });
  }
  const lists = new Set(
    [...kinds].filter(({ kind }) => kind === "const").map(({ declared }) => declared.parent),
  );
  for (const { start } of lists) edits.push({ start, end: start + "const".length, parts: ["let"] });
  return edits;
}

const isShorthand = ({ parent }) => parent.type === "Property" && parent.shorthand;
