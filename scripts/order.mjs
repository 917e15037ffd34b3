// In which order an expression does what it does, and what may change places with what without anybody being able to tell.
import { isStill, partsOf } from "./scopes.mjs";
import { isFunction, targetOf } from "./syntax.mjs";

const CHANGES = /^(?:Call|New|Await|Yield|Update|Import|TaggedTemplate|Assignment)Expression$/;

/** Whether it may change something, or wait. A function that it makes changes nothing yet. */
export function changes(node) {
  if (isFunction(node)) return false;
  if (CHANGES.test(node.type) || (node.type === "UnaryExpression" && node.operator === "delete")) return true;
  return partsOf(node).some(changes);
}

/** Names of properties that get a value other than by a definition. Methods of other names are always the same. */
export function assignedNames(tree) {
  const names = new Set();
  const visit = (node) => {
    const target = targetOf(node);
    if (target?.type === "MemberExpression" && !target.computed) names.add(target.property.name);
    for (const part of partsOf(node)) visit(part);
  };
  visit(tree);
  return names;
}

/**
 * Where `variable` is read in a statement, if `value` may be found out there instead of before the statement: whatever the statement does before that is the
 * same after `value` was found out. Undefined if it is read where it may not be, or under a condition. `assigned`: the names of properties that change.
 */
export function placeOf(variable, statement, value, assigned) {
  return new Order(variable, value, assigned).statement(statement).found;
}

const STOP = {};
const PASS = { passes: true };

class Order {
  constructor(variable, value, assigned) {
    this.variable = variable;
    this.value = value;
    this.quiet = !changes(value);
    this.assigned = assigned;
  }

  statement(node) {
    switch (node.type) {
      case "ExpressionStatement":
        return this.look(node.expression);
      case "ReturnStatement":
      case "ThrowStatement":
        return this.look(node.argument);
      case "IfStatement":
        return this.look(node.test);
      case "SwitchStatement":
        return this.look(node.discriminant);
      case "ForOfStatement":
        return this.look(node.right);
      case "ForStatement":
        return node.init
          ? this.statement(
              node.init.type === "VariableDeclaration"
                ? node.init
                : { type: "ExpressionStatement", expression: node.init },
            )
          : STOP;
      case "VariableDeclaration":
        return this.all(
          node.declarations.map(({ id, init }) => (id.type === "Identifier" ? init : { type: "Unknown" })),
        );
      case "BlockStatement":
        return node.body.length > 0 ? this.statement(node.body[0]) : STOP;
      case "LabeledStatement":
        return node.body.type === "BlockStatement" ? this.statement(node.body) : STOP;
      default:
        return STOP;
    }
  }

  /** One after the other. */
  all(nodes) {
    for (const node of nodes) {
      if (!node) continue;
      const one = this.look(node);
      if (!one.passes) return one;
    }
    return PASS;
  }

  /** After these, something that changes or that other changes can be seen by. */
  thenAct(nodes) {
    const one = this.all(nodes.filter(Boolean));
    return one.passes ? STOP : one;
  }

  /** After these, something that is only looked at. */
  thenLook(nodes) {
    const one = this.all(nodes);
    return one.passes && !this.quiet ? STOP : one;
  }

  look(node) {
    if (!node) return STOP;
    if (isFunction(node)) return PASS;
    return this[node.type]?.(node) ?? STOP;
  }

  Identifier(node) {
    const { variable } = node;
    if (variable === this.variable) return { found: node };
    if (!variable || this.quiet || isStill(variable)) return PASS;
    // Of the variables that change, a call can only change those that another function knows.
    const isOwn = !variable.uses.some(({ owner }) => owner !== variable.owner);
    const isChanged = variable.uses.some(
      ({ node: use, writes }) => writes && use.start >= this.value.start && use.end <= this.value.end,
    );
    return isOwn && !isChanged && variable.owner.type !== "Program" ? PASS : STOP;
  }

  Literal({ regex }) {
    return regex ? STOP : PASS;
  }

  ThisExpression() {
    return PASS;
  }

  MemberExpression({ object, property, computed, optional }) {
    if (optional) return this.thenAct([object]);
    return this.thenLook(computed ? [object, property] : [object]);
  }

  ChainExpression({ expression }) {
    return this.look(expression);
  }

  CallExpression({ callee, arguments: given, optional }) {
    const isMethod =
      callee.type === "MemberExpression" && !callee.computed && !this.assigned.has(callee.property.name);
    if (optional || callee.optional)
      return this.thenAct([callee.type === "MemberExpression" ? callee.object : callee]);
    return this.thenAct([isMethod ? callee.object : callee, ...given]);
  }

  NewExpression({ callee, arguments: given }) {
    return this.thenAct([callee, ...given]);
  }

  SpreadElement({ argument }) {
    return this.thenAct([argument]);
  }

  AwaitExpression({ argument }) {
    return this.thenAct([argument]);
  }

  BinaryExpression({ left, right }) {
    return this.all([left, right]);
  }

  UnaryExpression({ operator, argument }) {
    return operator === "delete" ? STOP : this.all([argument]);
  }

  LogicalExpression({ left }) {
    return this.thenAct([left]);
  }

  ConditionalExpression({ test }) {
    return this.thenAct([test]);
  }

  SequenceExpression({ expressions }) {
    return this.all(expressions);
  }

  ArrayExpression({ elements }) {
    return elements.includes(null) ? STOP : this.all(elements);
  }

  ObjectExpression({ properties }) {
    return this.all(
      properties.flatMap((one) =>
        one.type === "Property" ? (one.computed ? [one.key, one.value] : [one.value]) : [one],
      ),
    );
  }

  AssignmentExpression({ left, operator, right }) {
    if (/^(?:&&|\|\||\?\?)=$/.test(operator)) return STOP;
    if (left.type === "MemberExpression") {
      const before = left.computed ? [left.object, left.property] : [left.object];
      return operator === "=" ? this.thenAct([...before, right]) : this.thenAct([left, right]);
    }
    if (left.type !== "Identifier" || left.variable === this.variable) return STOP;
    return this.thenAct(operator === "=" ? [right] : [left, right]);
  }
}
