// Says a program again in what costs the XS engine less ROM. Everything here is one rule for one kind of syntax; DESIGN.md has what each saves.
// The program is one that esbuild bundled: no name of an inner scope is one of the module's.
import { parse } from "acorn";
import { bodyOf, planOf } from "./inline.mjs";
import { childrenOf, hasThis, isFunction, moduleOf, walk } from "./syntax.mjs";

/** The same program. Throws if `text` is none. */
export function lean(text) {
  const tree = parse(text, { ecmaVersion: "latest", sourceType: "module" });
  return new Writer(text, survey(tree)).write(tree);
}

/** What must be known of the whole program before a part of it can be said otherwise. */
function survey(tree) {
  const lists = new Map();
  const constructed = new Set();
  const declared = new Map();
  const declare = (pattern) => {
    if (pattern.type === "Identifier") declared.set(pattern.name, (declared.get(pattern.name) ?? 0) + 1);
    else for (const child of childrenOf(pattern)) declare(child);
  };
  walk(tree, (node) => {
    if (node.type === "NewExpression" && node.callee.type === "Identifier") constructed.add(node.callee.name);
    for (const pattern of [...(node.params ?? []), ...(node.id ? [node.id] : [])]) declare(pattern);
    if (node.type === "CatchClause" && node.param) declare(node.param);
    if (node.type !== "PropertyDefinition" || node.computed) return;
    const isList = node.value?.type === "ArrayExpression";
    lists.set(node.key.name, isList && lists.get(node.key.name) !== false);
  });
  const values = valuesOf(tree);
  for (const name of values.keys()) if (declared.get(name) !== 1) values.delete(name);
  const { sites, gone } = planOf(tree, (name) => declared.get(name) === 1);
  return {
    values,
    site: (node) => sites.get(node),
    isGone: (node) => gone.has(node),
    isList: (name) => lists.get(name) === true,
    isConstructed: (name) => constructed.has(name),
  };
}

/** The module's constants that are numbers or short texts, as they are written where they are used. */
function valuesOf(tree) {
  const values = new Map();
  for (const statement of moduleOf(tree).body) {
    if (statement.type !== "VariableDeclaration" || statement.kind !== "const") continue;
    for (const { id, init } of statement.declarations) {
      const value = numberOf(init, values);
      if (value !== undefined) values.set(id.name, value);
    }
  }
  return values;
}

const ARITHMETIC = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "**": (a, b) => a ** b,
};

function numberOf(node, known) {
  if (node.type === "Literal" && typeof node.value === "number") return node.value;
  if (node.type === "Identifier") return known.get(node.name);
  if (node.type === "UnaryExpression" && node.operator === "-") {
    const value = numberOf(node.argument, known);
    return value === undefined ? undefined : -value;
  }
  if (node.type !== "BinaryExpression" || !(node.operator in ARITHMETIC)) return undefined;
  const [left, right] = [numberOf(node.left, known), numberOf(node.right, known)];
  return left === undefined || right === undefined ? undefined : ARITHMETIC[node.operator](left, right);
}

/** Whether a value may be a promise. */
const mayWait = ({ type, left, right, consequent, alternate }) => {
  if (type === "ConditionalExpression") return mayWait(consequent) || mayWait(alternate);
  if (type === "LogicalExpression") return mayWait(left) || mayWait(right);
  return !/^(?:Await|Literal|Template|Unary|Update|Binary|Object|Array)/.test(type);
};

/** Whether a function is made in it. */
const holds = (node) => isFunction(node) || childrenOf(node).some(holds);

const isPlain = (pattern) =>
  pattern.type === "ObjectPattern" &&
  pattern.properties.length > 0 &&
  pattern.properties.every(
    ({ type, computed, key, value }) =>
      type === "Property" && !computed && key.type === "Identifier" && value.type === "Identifier",
  );
const isRow = (pattern) =>
  pattern?.type === "ArrayPattern" && pattern.elements.every((element) => element?.type === "Identifier");

class Writer {
  constructor(text, known) {
    this.text = text;
    this.known = known;
    this.temporaries = 0;
    /** What stands for a parameter. */
    this.names = new Map();
    /** What a body begins with. */
    this.first = new Map();
  }

  write(node) {
    const site = this.known.site(node);
    if (site) return this.inline(site);
    return this[node.type]?.(node) ?? this.rest(node);
  }

  /** A function in the place of its only call. */
  inline(site) {
    const { made, params, value, argument } = site;
    if (value === "expression") {
      const names = new Map([...site.names].map(([name, given]) => [name, this.inBrackets(given)]));
      return this.withNames(names, () => `(${this.write(argument)})`);
    }
    const before = params.map((one) => `${one.kind} ${one.name} = ${this.write(one.argument)};`).join("");
    return this.withNames(new Map(), () => this.placed(site, bodyOf(made), before));
  }

  inBrackets(node) {
    return node.type === "Identifier" ? this.write(node) : `(${this.write(node)})`;
  }

  withNames(names, write) {
    const outer = this.names;
    this.names = names;
    const written = write();
    this.names = outer;
    return written;
  }

  placed({ made, value, early }, body, before) {
    const outer = this.leave;
    if (value === "returned") {
      if (made.async) this.leave = { ...outer, awaits: true };
      const written = `{${before}${this.returned(made, body)}}`;
      this.leave = outer;
      return written;
    }
    const last = body.at(-1);
    const isSite = last && this.known.site(last);
    const ends = last?.type === "ReturnStatement" && !isSite;
    const end = ends && last.argument;
    const label = early || isSite ? `$${this.temporaries++}` : undefined;
    this.leave = { label, takes: true, value: value === "dropped" ? "" : value, awaits: made.async };
    const rest = this.statements(ends ? body.slice(0, -1) : body);
    const result = end ? this.result(end) : "";
    this.leave = outer;
    return `${value === "dropped" ? "" : `let ${value};`}${label ? `${label}:` : ""}{${before}${rest}${result}}`;
  }

  returned(made, body) {
    if (made.body.type !== "BlockStatement") return this.ReturnStatement({ argument: made.body });
    const last = body.at(-1)?.type;
    const falls = last !== "ReturnStatement" && last !== "ThrowStatement";
    return this.statements(body) + (falls ? `\n${this.ReturnStatement({ argument: null })}` : "");
  }

  /** The value of a function that stands where it was called. */
  result(argument) {
    const written = this.valueOf(argument);
    return this.leave.value ? `${this.leave.value} = ${written};` : `(${written});`;
  }

  /** What an async function returns is waited for. */
  valueOf(argument) {
    const written = this.write(argument);
    return this.leave?.awaits && mayWait(argument) ? `await (${written})` : written;
  }

  /** As it is, but for what is within. */
  rest(node) {
    let written = "";
    let at = node.start;
    for (const child of childrenOf(node)) {
      written += this.text.slice(at, child.start) + this.write(child);
      at = child.end;
    }
    return written + this.text.slice(at, node.end);
  }

  Identifier({ name }) {
    if (this.names.has(name)) return this.names.get(name);
    const value = this.known.values.get(name);
    return value === undefined ? name : this.number(value);
  }

  /** In brackets, as it may be what a minus or a dot stands beside. */
  number(value) {
    return `(${value})`;
  }

  Property(node) {
    if (!node.shorthand) return undefined;
    const value = this.write(node.value);
    return value === node.key.name ? value : `${node.key.name}: ${value}`;
  }

  ExportSpecifier(node) {
    return this.text.slice(node.start, node.end);
  }

  ImportSpecifier(node) {
    return this.text.slice(node.start, node.end);
  }

  Program(node) {
    return this.statements(node.body);
  }

  BlockStatement(node) {
    return `{${this.first.get(node) ?? ""}${this.statements(node.body)}}`;
  }

  /** A function that needs no prototype gets none: 3 slots of 16 bytes each. Functions are known before their text: they come first. */
  statements(body) {
    const isArrow = (statement) =>
      statement.type === "FunctionDeclaration" &&
      !statement.generator &&
      !this.known.isConstructed(statement.id.name) &&
      !hasThis(statement.body) &&
      !statement.params.some(hasThis);
    const [arrows, others] = [[], []];
    for (const statement of body)
      if (this.known.isGone(statement)) continue;
      else if (isArrow(statement)) arrows.push(this.arrow(statement));
      else others.push(this.write(statement));
    return [...arrows, ...others].join("\n");
  }

  arrow(node) {
    return this.scope(() => this.arrowText(node));
  }

  arrowText(node) {
    const params = node.params.map((param) => this.write(param)).join(", ");
    return `const ${node.id.name} = ${node.async ? "async " : ""}(${params}) => ${this.write(node.body)};`;
  }

  /** Fields are a function of their own, called by the constructor: they become its first assignments. One without a value needs none. */
  ClassBody(node) {
    const isField = (member) =>
      !this.derived && member.type === "PropertyDefinition" && !member.static && !member.computed;
    const assignments = this.assignments(node.body.filter((member) => isField(member) && member.value));
    const members = node.body.filter((member) => !isField(member) && !this.known.isGone(member));
    const made = members.find(({ kind }) => kind === "constructor");
    if (made) this.first.set(made.value.body, assignments);
    const written = members.map((member) => this.write(member));
    if (!made && assignments) written.unshift(`constructor() {${assignments}}`);
    return `{${written.join("\n")}}`;
  }

  /** Fields with the same plain value get it at once. */
  assignments(fields) {
    const values = new Map();
    for (const { key, value } of fields) {
      const written = this.write(value);
      const group =
        (value.type === "Literal" && !value.regex) || /^\(-?[\d.]+\)$/.test(written) ? written : value;
      const names = values.get(group)?.names ?? [];
      values.set(group, { names: [...names, `this.${key.name} = `], written });
    }
    return [...values.values()].map(({ names, written }) => `${names.join("")}${written};`).join("\n");
  }

  FunctionExpression(node) {
    return this.scope(() => this.rest(node));
  }

  ArrowFunctionExpression(node) {
    return this.scope(() => this.rest(node));
  }

  /** Names that are made up are the same in each function, as a name costs 20 bytes and its text. */
  scope(write) {
    const [temporaries, leave] = [this.temporaries, this.leave];
    Object.assign(this, { temporaries: 0, leave: undefined });
    const written = write();
    Object.assign(this, { temporaries, leave });
    return written;
  }

  ClassExpression(node) {
    return this.klass(node);
  }

  ClassDeclaration(node) {
    return this.klass(node);
  }

  klass(node) {
    const outer = this.derived;
    this.derived = node.superClass !== null;
    const written = this.rest(node);
    this.derived = outer;
    return written;
  }

  /** A text with values in it, as a sum: no empty texts are added, and nothing is said twice to be a text. */
  TemplateLiteral({ quasis, expressions }) {
    const parts = quasis.flatMap(({ value }, at) => {
      const text = { text: JSON.stringify(value.cooked), empty: value.cooked === "" };
      return at < expressions.length ? [text, { text: `(${this.write(expressions[at])})` }] : [text];
    });
    // One of the first two must be a text for the sum to be one.
    const kept = parts.filter(({ empty }, at) => !empty || (at === 0 && parts[2]?.empty));
    return kept.length === 0 ? '""' : `(${kept.map(({ text }) => text).join("+")})`;
  }

  TaggedTemplateExpression() {
    throw new Error("a tagged template is not known");
  }

  /** Adding one has an instruction of its own. */
  AssignmentExpression(node) {
    const { left, operator, right } = node;
    if (right.type !== "Literal" || right.value !== 1 || !/^[+-]=$/.test(operator)) return undefined;
    return `(${operator[0]}${operator[0]}${this.write(left)})`;
  }

  ReturnStatement({ argument }) {
    if (this.leave?.takes) return `{${argument ? this.result(argument) : ""}break ${this.leave.label};}`;
    // Each branch ends the function, and has no other to jump over.
    if (argument?.type === "ConditionalExpression") {
      const [yes, no] = [argument.consequent, argument.alternate].map((one) =>
        this.ReturnStatement({ argument: one }),
      );
      return `{if (${this.write(argument.test)}) ${yes}\n${no}}`;
    }
    const nothing = !argument || (argument.operator === "void" && argument.argument.type === "Literal");
    return nothing ? "return;" : `return ${this.valueOf(argument)};`;
  }

  /** What is true only if both are keeps no value on the stack. */
  IfStatement({ test, consequent, alternate }) {
    if (alternate || test.operator !== "&&") return undefined;
    const inner =
      this.IfStatement({ test: test.right, consequent }) ??
      `if (${this.write(test.right)}) ${this.write(consequent)}`;
    return (
      this.IfStatement({ test: test.left, consequent: { type: "Written", text: `{${inner}}` } }) ??
      `if (${this.write(test.left)}) {${inner}}`
    );
  }

  Written({ text }) {
    return text;
  }

  /** A variable that no function of the loop takes hold of needs not be a new one each time. */
  ForStatement(node) {
    const { init, test, update, body } = node;
    if (init?.kind !== "let" || [test, update, body].some((part) => part && holds(part))) return undefined;
    const [until, then] = [test, update].map((part) => (part ? this.write(part) : ""));
    return `{${this.write(init).replace(/;?$/, ";")}for (; ${until}; ${then}) ${this.write(body)}}`;
  }

  VariableDeclaration(node) {
    if (!node.declarations.every(({ init }) => init)) return undefined;
    const parts = node.declarations.flatMap(({ id, init }) => this.declared(id, init));
    return `${node.kind} ${parts.join(", ")}${this.text[node.end - 1] === ";" ? ";" : ""}`;
  }

  /** Taking a row or an object apart by a pattern asks an iterator, or takes a place on the stack for it. */
  declared(id, init) {
    if (isRow(id) && init.type === "ArrayExpression" && init.elements.length === id.elements.length)
      return id.elements.map(({ name }, at) => `${name} = ${this.write(init.elements[at])}`);
    if (!isRow(id) && !isPlain(id)) return [`${this.text.slice(id.start, id.end)} = ${this.write(init)}`];
    const names = isRow(id)
      ? id.elements.map(({ name }, at) => [name, `[${at}]`])
      : id.properties.map(({ key, value }) => [value.name, `.${key.name}`]);
    const whole = this.write(init);
    if (names.length === 1) return [`${names[0][0]} = (${whole})${names[0][1]}`];
    const simple = /^[\w$]+$/.test(whole) && !names.some(([name]) => name === whole);
    const temporary = simple ? whole : `$${this.temporaries++}`;
    return [
      ...(simple ? [] : [`${temporary} = ${whole}`]),
      ...names.map(([name, part]) => `${name} = ${temporary}${part}`),
    ];
  }

  /** A list is walked by an index: an iterator takes 100 bytes more, and time. */
  ForOfStatement(node) {
    const { left, right, body } = node;
    const { id } = left.declarations?.[0] ?? {};
    if (node.await || (id?.type !== "Identifier" && !isRow(id))) return undefined;
    const item = id.type === "Identifier" ? id.name : `$${this.temporaries++}`;
    const parts = id.type === "Identifier" ? "" : `const ${this.declaredOf(id, item)};`;
    const inner = body.type === "BlockStatement" ? this.write(body).slice(1, -1) : this.write(body);
    if (!this.isList(right))
      return parts ? `for (const ${item} of ${this.write(right)}) {${parts}${inner}}` : undefined;
    const [list, at] = ["$list", "$at"];
    return `{let ${at} = 0, ${list} = ${this.write(right)};for (; ${at} < ${list}.length; ++${at}) {const ${item} = ${list}[${at}];${parts}${inner}}}`;
  }

  declaredOf(id, item) {
    return id.elements.map(({ name }, at) => `${name} = ${item}[${at}]`).join(", ");
  }

  isList(node) {
    if (node.type === "ArrayExpression") return true;
    if (node.type === "MemberExpression")
      return node.object.type === "ThisExpression" && this.known.isList(node.property.name);
    if (node.type !== "CallExpression" || node.callee.type !== "MemberExpression") return false;
    const { object, property } = node.callee;
    return object.name === "Object"
      ? /^(?:keys|entries|values)$/.test(property.name)
      : property.name === "slice" && this.isList(object);
  }
}
