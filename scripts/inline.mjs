// Which functions are called at one place only, and can stand there themselves: each saves five slots of 16 bytes, its name, and the call.
import { childrenOf, hasThis, isFunction, moduleOf, namesIn, targetOf, walk } from "./syntax.mjs";

/**
 * By the statement (or the body of an arrow function) that the function takes the place of: the function, its arguments, and what becomes of its value.
 * `gone`: the declarations and methods that are written nowhere else then.
 */
export function planOf(tree, isOnce) {
  const uses = usesOf(tree);
  const changed = changedIn(tree);
  const sites = new Map();
  const gone = new Set();
  const plan = (name, declaration, made, holder) => {
    const [use, ...others] = uses.get(name) ?? [];
    if (!use || others.length > 0 || !isMovable(made) || !(holder || isOnce(name))) return;
    const site = siteOf(use, made, holder, changed);
    if (!site) return;
    sites.set(site.node, site);
    gone.add(declaration);
  };
  for (const statement of moduleOf(tree).body) {
    if (statement.type === "FunctionDeclaration" && !hasThis(statement.body))
      plan(statement.id.name, statement, statement);
    if (statement.type !== "VariableDeclaration" || statement.declarations.length !== 1) continue;
    const [{ id, init }] = statement.declarations;
    if (statement.kind === "const" && init?.type === "ArrowFunctionExpression")
      plan(id.name, statement, init);
  }
  for (const [holder, methods] of methodsOf(tree))
    for (const method of methods) plan(`.${method.key.name}`, method, method.value, holder);
  return { sites, gone };
}

/** References to variables by name, to properties by `.name`: the nodes around each, innermost first. */
function usesOf(tree) {
  const uses = new Map();
  const add = (name, path) => {
    if (!uses.has(name)) uses.set(name, []);
    uses.get(name).push(path);
  };
  const visit = (node, path) => {
    const own = [node, ...path];
    const [parent] = path;
    const isName =
      (parent?.id === node || parent?.type === "LabeledStatement") && !/Declarator$/.test(parent.type);
    if (
      node.type === "Identifier" &&
      !isName &&
      !(parent?.type === "VariableDeclarator" && parent.id === node)
    )
      add(node.name, own);
    if (node.type === "MemberExpression" && !node.computed) add(`.${node.property.name}`, own);
    for (const child of childrenOf(node)) visit(child, own);
  };
  visit(tree, []);
  return uses;
}

/** The methods of each class that nobody else can call: what was private has an underscore, and no other class has one of that name. */
function methodsOf(tree) {
  const classes = new Map();
  const counts = new Map();
  const visit = (node) => {
    if (node.type === "ClassBody") {
      for (const { key, computed } of node.body)
        if (!computed) counts.set(key.name, (counts.get(key.name) ?? 0) + 1);
      classes.set(
        node,
        node.body.filter(
          (member) =>
            member.type === "MethodDefinition" &&
            member.kind === "method" &&
            !member.static &&
            !member.computed &&
            /^_/.test(member.key.name),
        ),
      );
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(tree);
  for (const [node, methods] of classes)
    classes.set(
      node,
      methods.filter(({ key }) => counts.get(key.name) === 1),
    );
  return classes;
}

const isMovable = ({ generator, params }) => !generator && params.every(({ type }) => type === "Identifier");

function siteOf([callee, call, ...path], made, holder, changed) {
  if (!isCallOf(call, callee, made)) return undefined;
  if (holder ? !isOfObject(callee, path, holder) : callee.type !== "Identifier") return undefined;
  const awaited = path[0]?.type === "AwaitExpression";
  if (awaited !== made.async) return undefined;
  const around = awaited ? path.slice(1) : path;
  return asStatement(call, around, made) ?? (awaited ? undefined : asExpression(call, made, changed));
}

function isCallOf(call, callee, made) {
  if (call?.type !== "CallExpression" || call.callee !== callee || call.optional || callee.optional)
    return false;
  return (
    call.arguments.length === made.params.length &&
    call.arguments.every(({ type }) => type !== "SpreadElement")
  );
}

/** Where the call is all that a statement does, but for what becomes of its value. */
function asStatement({ arguments: given }, [use, list, around], made) {
  const site = { made, given };
  if (use.type === "ReturnStatement") return named({ ...site, node: use, value: "returned" });
  const body = bodyOf(made);
  const last = body.at(-1)?.type === "ReturnStatement" ? 1 : 0;
  site.early = returnsIn(body).length > last;
  if (use.type === "ExpressionStatement") return named({ ...site, node: use, value: "dropped" });
  if (use.type !== "VariableDeclarator" || use.id.type !== "Identifier") return undefined;
  if (list.declarations.length !== 1 || around?.type !== "BlockStatement") return undefined;
  return named({ ...site, node: list, value: use.id.name });
}

/** A function that is one expression stands for its call anywhere, with the arguments in place of the parameters: names that nobody changes, literals, and what is looked at first. */
function asExpression(call, made, changed) {
  const [only, ...others] = bodyOf(made);
  if (only?.type !== "ReturnStatement" || !only.argument || others.length > 0) return undefined;
  const isStill = ({ type, name }) =>
    type === "Literal" || type === "ThisExpression" || (type === "Identifier" && !changed.has(name));
  const used = namesIn(only.argument);
  const first = leadOf(only.argument);
  const names = new Map(made.params.map(({ name }, at) => [name, call.arguments[at]]));
  for (const [name, argument] of names) {
    const isFirst = first === name && used.filter((one) => one === name).length === 1;
    if (changedIn(only.argument).has(name) || !(isStill(argument) || isFirst)) return undefined;
  }
  const inner = declaredIn(only.argument);
  if ([...names.keys(), ...call.arguments.flatMap(namesIn)].some((name) => inner.has(name))) return undefined;
  return { made, node: call, value: "expression", names, argument: only.argument };
}

/** The name that an expression looks at before it does anything else. */
function leadOf(node) {
  if (node.type === "Identifier") return node.name;
  if (isFunction(node)) return undefined;
  const [first] = childrenOf(node).filter(({ type }) => type !== "Literal" && type !== "TemplateElement");
  return first && leadOf(first);
}

function declaredIn(expression) {
  const names = new Set();
  walk(expression, (node) => {
    for (const pattern of [...(node.params ?? []), ...(node.id ? [node.id] : [])])
      for (const name of namesIn(pattern)) names.add(name);
  });
  return names;
}

/** With the parameters that need a name of their own. Undefined if a name would mean something else there. */
function named(site) {
  const { made, given, value } = site;
  const own = new Set(bodyOf(made).flatMap(declaredBy));
  const taken = new Set(made.params.map(({ name }) => name));
  const changed = changedIn(made.body);
  const params = [];
  for (const [at, { name }] of made.params.entries()) {
    const argument = given[at];
    if (argument.type === "Identifier" && argument.name === name && !changed.has(name)) continue;
    if (namesIn(argument).some((one) => taken.has(one) || own.has(one))) return undefined;
    params.push({ name, argument, kind: changed.has(name) ? "let" : "const" });
  }
  // What becomes of the value is written where the function returns, in a block that may declare names of its own.
  if (taken.has(value) || declaredWithin(made.body).has(value)) return undefined;
  return { ...site, params };
}

export const bodyOf = ({ body }) =>
  body.type === "BlockStatement"
    ? body.body
    : [{ type: "ReturnStatement", argument: body, start: body.start, end: body.end }];

function declaredWithin(node, names = new Set()) {
  for (const name of declaredBy(node)) names.add(name);
  if (node.type === "CatchClause" && node.param) for (const name of namesIn(node.param)) names.add(name);
  for (const child of childrenOf(node)) if (!isFunction(child)) declaredWithin(child, names);
  return names;
}

/** The names that a statement declares for those beside it. */
function declaredBy(statement) {
  if (statement.type === "VariableDeclaration")
    return statement.declarations.flatMap(({ id }) => namesIn(id));
  return statement.id ? [statement.id.name] : [];
}

function changedIn(node, changed = new Set()) {
  const target = targetOf(node);
  if (target) for (const name of namesIn(target)) changed.add(name);
  for (const child of childrenOf(node)) changedIn(child, changed);
  return changed;
}

function returnsIn(statements) {
  const found = [];
  const visit = (node) => {
    if (node.type === "ReturnStatement") found.push(node);
    if (!isFunction(node)) for (const child of childrenOf(node)) visit(child);
  };
  for (const statement of statements) visit(statement);
  return found;
}

/** Whether `this` is of the class that has the method. */
function isOfObject(callee, path, holder) {
  if (callee.object.type !== "ThisExpression" || classOf(path) !== holder) return false;
  const inside = path.slice(0, path.indexOf(holder));
  const owns = inside.filter(({ type }) => type === "FunctionExpression" || type === "FunctionDeclaration");
  return (
    owns.length === 0 ||
    (owns.length === 1 && inside[inside.indexOf(owns[0]) + 1]?.type === "MethodDefinition")
  );
}

const classOf = (path) => path.find(({ type }) => type === "ClassBody");
