// Which variable a name of a program stands for, and what is done with each. The program is a module that acorn parsed, without `eval` and `with`.
import { isFunction } from "./syntax.mjs";

const isNode = (value) => typeof value?.type === "string";
const isLoop = ({ type }) => /^(?:For|While|DoWhile)/.test(type);
/** Names that are no variables'. */
const OTHERS = {
  BreakStatement: "label",
  ContinueStatement: "label",
  LabeledStatement: "label",
  MetaProperty: "*",
};
const BLOCKS =
  /^(?:Program|BlockStatement|StaticBlock|SwitchStatement|CatchClause|For\w*Statement|Class\w*)$/;

/**
 * Gives each node its `parent`, and each name that is a variable's its `variable`:
 * `kind` (param, let, const, var, function, class, catch, import), `id` and `declared` (the declarator, function or clause), `scope`, `owner` (the function or the program), `uses`.
 * A use: its name's `node`, its `owner` and `scope`; whether it `reads` and `writes`. The first write, of a declaration, is none of them.
 */
export function analyse(tree) {
  const variables = [];
  const open = (node, outer, owner) => ({ node, outer, owner, names: new Map() });
  const declare = (scope, kind, id, declared) => {
    const variable = { kind, name: id.name, id, declared, scope, owner: scope.owner, uses: [] };
    id.variable = variable;
    scope.names.set(id.name, variable);
    variables.push(variable);
  };
  const names = [];

  const declarePattern = (pattern, kind, declared, scope, inner) => {
    if (pattern.type === "Identifier") return declare(scope, kind, pattern, declared);
    pattern.parent ??= declared;
    for (const child of partsOf(pattern)) {
      child.parent = pattern;
      const isTarget = !(pattern.type === "AssignmentPattern" && child === pattern.right);
      if (isTarget && !(pattern.type === "Property" && pattern.computed && child === pattern.key))
        declarePattern(child, `${kind} in a pattern`, declared, scope, inner);
      else visit(child, pattern, inner);
    }
  };

  /** What a list of statements declares is known in all of it. */
  const declareAll = (statements, scope) => {
    for (const one of statements) {
      const statement = one.type.startsWith("Export") ? (one.declaration ?? one) : one;
      if (/^(?:Function|Class)Declaration/.test(statement.type) && statement.id)
        declare(scope, statement.type.startsWith("F") ? "function" : "class", statement.id, statement);
      if (statement.type === "VariableDeclaration") declareVariables(statement, scope);
      if (statement.type === "ImportDeclaration")
        for (const specifier of statement.specifiers) declare(scope, "import", specifier.local, specifier);
    }
  };
  const declareVariables = (statement, scope) => {
    let whole = scope;
    while (statement.kind === "var" && whole.node !== whole.owner) whole = whole.outer;
    for (const one of statement.declarations) declarePattern(one.id, statement.kind, one, whole, scope);
  };

  const visit = (node, parent, scope) => {
    node.parent = parent;
    if (node.type === "Identifier") {
      if (!node.variable) names.push({ node, scope });
      return;
    }
    let inner = scope;
    if (isFunction(node)) {
      inner = open(node, scope, node);
      if (node.type === "FunctionExpression" && node.id) declare(inner, "function", node.id, node);
      for (const param of node.params) {
        if (param.type === "AssignmentPattern" && param.left.type === "Identifier")
          declare(inner, "param", param.left, node);
        else declarePattern(param, "param", node, inner, inner);
      }
    } else if (BLOCKS.test(node.type)) inner = open(node, scope, scope?.owner ?? node);
    if (/^(?:Program|BlockStatement|StaticBlock)$/.test(node.type)) declareAll(node.body, inner);
    if (node.type === "SwitchStatement") for (const one of node.cases) declareAll(one.consequent, inner);
    if (node.type === "CatchClause" && node.param) declarePattern(node.param, "catch", node, inner, inner);
    const head = node.type === "ForStatement" ? node.init : node.left;
    if (isLoop(node) && head?.type === "VariableDeclaration") declareVariables(head, inner);
    if (node.type === "ClassExpression" && node.id) declare(inner, "class", node.id, node);
    for (const child of partsOf(node)) {
      if (/^Import|^ExportAll/.test(node.type) && node.type !== "ImportExpression") continue;
      if (node.type === "ExportSpecifier" && child !== node.local) continue;
      visit(child, node, node.type === "SwitchStatement" && child === node.discriminant ? scope : inner);
    }
  };
  visit(tree, undefined, undefined);

  for (const { node, scope } of names) {
    const variable = lookUp(scope, node.name);
    node.variable = variable;
    variable?.uses.push({ node, scope, owner: scope.owner, ...useOf(node) });
  }
  return variables;
}

/** The variable that a name is in a scope; undefined if it is a global one. */
export function lookUp(scope, name) {
  for (let at = scope; at; at = at.outer) if (at.names.has(name)) return at.names.get(name);
  return undefined;
}

/** All nodes in it, names of properties apart. */
export function partsOf(node) {
  const parts = [];
  for (const name in node) {
    if (name === "parent" || name === "variable" || OTHERS[node.type] === name || OTHERS[node.type] === "*")
      continue;
    if (!node.computed && (name === "property" || name === "key")) continue;
    const value = node[name];
    if (Array.isArray(value)) parts.push(...value.filter(isNode));
    else if (isNode(value)) parts.push(value);
  }
  return parts;
}

function useOf(node) {
  const { parent } = node;
  if (parent.type === "AssignmentExpression" && parent.left === node)
    return { writes: true, reads: parent.operator !== "=", whole: parent };
  if (parent.type === "UpdateExpression") return { writes: true, reads: true, whole: parent };
  if (/^For(?:Of|In)Statement$/.test(parent.type) && parent.left === node)
    return { writes: true, reads: false, whole: parent };
  if (/Pattern$/.test(parent.type) || (parent.type === "Property" && parent.parent.type === "ObjectPattern"))
    return { writes: true, reads: true, whole: parent };
  return { writes: false, reads: true, whole: node };
}

/** Whether a function made in the one that has it uses it. */
export const isHeld = ({ owner, uses }) => uses.some((use) => use.owner !== owner);

/** Whether it keeps its first value. */
export const isStill = ({ kind, uses }) => kind !== "var" && !uses.some(({ writes }) => writes);

/** The loops around a node, within a function. */
export function loopsAround(node, owner) {
  const loops = [];
  for (let at = node; at.parent && at !== owner; at = at.parent)
    // What a loop begins with stands before it.
    if (
      isLoop(at.parent) &&
      at.parent.init !== at &&
      !(at.parent.type === "ForOfStatement" && at.parent.right === at)
    )
      loops.push(at.parent);
  return loops;
}
