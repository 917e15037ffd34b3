// About how many bytes of code the compiler makes of an expression.
import { partsOf } from "./scopes.mjs";
import { isFunction } from "./syntax.mjs";

/** Of the node alone; its parts come to it. */
const OWN = {
  ArrayExpression: ({ elements }) => 14 + 6 * elements.length,
  AssignmentExpression: ({ operator }) => (operator === "=" ? 3 : 5),
  AwaitExpression: () => 8,
  BinaryExpression: () => 1,
  CallExpression: () => 4,
  ConditionalExpression: () => 6,
  Identifier: ({ variable }) => (variable ? 2 : 6),
  Literal: ({ value, regex }) =>
    regex
      ? 12 + regex.pattern.length
      : typeof value === "string"
        ? 3 + value.length
        : typeof value === "number"
          ? 2
          : 1,
  LogicalExpression: ({ operator }) => (operator === "??" ? 3 : 5),
  MemberExpression: ({ computed }) => (computed ? 2 : 3),
  NewExpression: () => 3,
  ObjectExpression: ({ properties }) => 6 + 7 * properties.length,
  ThisExpression: () => 1,
  UnaryExpression: () => 1,
  UpdateExpression: () => 4,
};

export function sizeOf(node) {
  if (isFunction(node)) return 20 + (node.end - node.start) / 2;
  return partsOf(node).reduce((sum, part) => sum + sizeOf(part), OWN[node.type]?.(node) ?? 4);
}
