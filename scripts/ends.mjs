// A function that ends without a value: `return` costs 3 bytes of code, as it says that there is none; a jump to the function's end costs one, and running there nothing.
import { parse } from "acorn";
import { withEdits } from "./edits.mjs";
import { analyse, partsOf } from "./scopes.mjs";
import { isFunction } from "./syntax.mjs";

const LABEL = "$";
const OPPOSITES = { "===": "!==", "!==": "===", "==": "!=", "!=": "==" };

/** The same program. Throws if `text` is none. */
export function ends(text) {
  const tree = parse(text, { ecmaVersion: "latest", sourceType: "module" });
  analyse(tree);
  const edits = [];
  const visit = (node) => {
    if (isFunction(node) && !node.generator && node.body.type === "BlockStatement") endsOf(node.body, edits);
    for (const part of partsOf(node)) visit(part);
  };
  visit(tree);
  return withEdits(text, edits);
}

function endsOf(body, edits) {
  const returns = returnsIn(body);
  const gone = new Set();
  last(body.body, edits, gone);
  const jumps = returns.filter((one) => !gone.has(one));
  for (const { start, end } of jumps) edits.push({ start, end, parts: [`break ${LABEL};`] });
  const { start, end } = body;
  if (jumps.length > 0)
    edits.push({ start, end: start + 1, parts: [`{${LABEL}: {`] }, { start: end - 1, end, parts: ["}}"] });
}

/** Those without a value that belong to the function. What leaves a try or the walk of an iterator has its way to go, and keeps it. */
function returnsIn(node) {
  if (node.type === "ReturnStatement") return node.argument ? [] : [node];
  if (isFunction(node) || /^(?:Try|ForOf|ForIn)Statement$|^Class/.test(node.type)) return [];
  return partsOf(node).flatMap(returnsIn);
}

/** Statements that the function ends after: what is left out under a condition stands under its opposite. */
function last(list, edits, gone) {
  for (const [at, statement] of list.entries()) {
    const rest = list.slice(at + 1);
    if (statement.type === "ReturnStatement" && !statement.argument) {
      gone.add(statement);
      edits.push({ start: statement.start, end: statement.end, parts: [] });
      return;
    }
    const only =
      statement.type === "IfStatement" &&
      !statement.alternate &&
      rest.length > 0 &&
      onlyReturn(statement.consequent);
    const opposite = only && oppositeOf(statement.test);
    if (opposite) {
      gone.add(only);
      edits.push(
        { start: statement.start, end: rest[0].start, parts: ["if (", ...opposite, ") {"] },
        { start: rest.at(-1).end, end: rest.at(-1).end, parts: ["}"] },
      );
      last(rest, edits, gone);
      return;
    }
  }
  const end = list.at(-1);
  if (end?.type === "BlockStatement") last(end.body, edits, gone);
  if (end?.type === "IfStatement")
    for (const one of [end.consequent, end.alternate])
      if (one?.type === "BlockStatement") last(one.body, edits, gone);
}

function onlyReturn(statement) {
  const one =
    statement.type === "BlockStatement" && statement.body.length === 1 ? statement.body[0] : statement;
  return one.type === "ReturnStatement" && !one.argument && one;
}

function oppositeOf({ type, operator, argument, left, right }) {
  if (type === "UnaryExpression" && operator === "!") return [argument];
  return type === "BinaryExpression" && operator in OPPOSITES
    ? ["(", left, `) ${OPPOSITES[operator]} (`, right, ")"]
    : undefined;
}
