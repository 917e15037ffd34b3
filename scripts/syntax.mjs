// What is known of a program's tree, as acorn makes it.

const CHILDREN = Symbol("children");
const isNode = (value) => typeof value?.type === "string";

/** In the order of the text, without names that are no variables'. Of a shorthand property the value stands for both. */
export function childrenOf(node) {
  if (node[CHILDREN]) return node[CHILDREN];
  const children = [];
  for (const name in node) {
    const value = node[name];
    if (typeof value !== "object" || value === null) continue;
    if (!node.computed && (name === "key" || name === "property")) continue;
    if (Array.isArray(value)) {
      for (const one of value) if (isNode(one)) children.push(one);
    } else if (isNode(value)) children.push(value);
  }
  if (children.some(({ start }, at) => at > 0 && start < children[at - 1].start))
    children.sort((a, b) => a.start - b.start);
  node[CHILDREN] = children;
  return children;
}

/** Calls `visit` for a node and all within it. */
export function walk(node, visit) {
  visit(node);
  for (const child of childrenOf(node)) walk(child, visit);
}

/** All names in it. */
export function namesIn(node) {
  const names = [];
  walk(node, ({ type, name }) => type === "Identifier" && names.push(name));
  return names;
}

export const isFunction = ({ type }) => /^(?:Function|ArrowFunction)/.test(type);

/** Whether a function has a `this` or `arguments` of its own. */
export function hasThis(node) {
  if (node.type === "ThisExpression" || node.type === "MetaProperty") return true;
  if (node.type === "Identifier" && node.name === "arguments") return true;
  return childrenOf(node).some((child) => !/^Function|^Class/.test(child.type) && hasThis(child));
}

/** The statements of the module, which may stand in a function that is called at once. */
export const moduleOf = ({ body }) => body.at(-1)?.expression?.callee?.body ?? { body };

/** What a node gives another value; undefined if it is neither an assignment nor a count. */
export function targetOf({ type, left, argument }) {
  if (type === "AssignmentExpression") return left;
  return type === "UpdateExpression" ? argument : undefined;
}
