// A variable that gets a value and is then read first of all gets it where it is read, which saves the reading: 2 bytes of code.
import { rounds } from "./edits.mjs";
import { isHidden, listOf, statementOf } from "./fold.mjs";
import { assignedNames, placeOf } from "./order.mjs";
import { analyse } from "./scopes.mjs";

/** The same program. Throws if `text` is none. */
export const settle = (text) => rounds(text, editsOf);

function editsOf(tree) {
  const edits = [];
  const touched = new Set();
  const variables = analyse(tree);
  const assigned = assignedNames(tree);
  for (const variable of variables)
    for (const { whole, reads, writes } of variable.uses) {
      const statement = whole.parent;
      if (!writes || reads || statement.type !== "ExpressionStatement" || !listOf(statement)) continue;
      const list = listOf(statement);
      const next = list[list.indexOf(statement) + 1];
      const place = next && placeOf(variable, next, whole.right, assigned);
      if (!place || isHidden(whole, variable.uses.find(({ node }) => node === place).scope)) continue;
      const around = [statement, statementOf(place)];
      if (around.some((one) => touched.has(one))) continue;
      for (const one of around) touched.add(one);
      edits.push({ start: statement.start, end: statement.end, parts: [] });
      const { start, end, parent, name } = place;
      const isShorthand = parent.type === "Property" && parent.shorthand;
      edits.push({ start, end, parts: [isShorthand ? `${name}: (` : "(", whole, ")"] });
    }
  return edits;
}
