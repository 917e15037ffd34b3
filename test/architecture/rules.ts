// Rules that keep a module safe and small on a board. Each returns the offending code of a
// TypeScript or JavaScript source.
import { transformSync } from "esbuild";
import { parseAst } from "rollup/parseAst";

/** A node of the ESTree syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  // biome-ignore lint/suspicious/noExplicitAny: each type of node has members of its own
  readonly [member: string]: any;
}

/** A node and the nodes around it, the nearest first. */
type Rule = (node: Node, around: readonly Node[]) => boolean;

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === "string";

function* walk(node: Node, around: readonly Node[] = []): Generator<[Node, readonly Node[]]> {
  yield [node, around];
  const inner = [node, ...around];
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* walk(child, inner);
}

const finder =
  (rule: Rule) =>
  (source: string): string[] => {
    const tsconfigRaw = { compilerOptions: { useDefineForClassFields: true, verbatimModuleSyntax: true } };
    const { code } = transformSync(source, { loader: "ts", target: "esnext", tsconfigRaw });
    return [...walk(parseAst(code) as unknown as Node)]
      .filter(([node, around]) => rule(node, around))
      .map(([{ start, end }]) => code.slice(start, end).split("\n", 1)[0]!);
  };

const inFunction = (around: readonly Node[]): boolean => around.some(({ type }) => /Function/.test(type));
const isMember = (node: Node, name: RegExp): boolean =>
  node.type === "MemberExpression" && !node.computed && name.test(node.property.name);

/** The specifiers that a module imports or exports from. */
export const imports = (source: string): string[] =>
  (parseAst(source) as unknown as Node).body.flatMap(({ source }: Node) => (source ? [source.value] : []));

const OF_LETTERS = /^(?:match|matchAll|search|to(?:Locale)?(?:Low|Upp)erCase|localeCompare|normalize)$/;

/**
 * Regular expressions and methods that make the SDK's linker add the engine's Unicode tables to an
 * image.
 */
export const unicodeTables = finder(
  (node) =>
    node.regex !== undefined ||
    isMember(node, OF_LETTERS) ||
    (node.type === "Identifier" && node.name === "RegExp"),
);

/** `new` of these types at module level: a preloaded module's objects are read-only. */
const moduleLevel = (types: RegExp) =>
  finder(
    ({ type, callee, arguments: given }, around) =>
      type === "NewExpression" &&
      types.test(callee.name) &&
      !(given.length === 1 && given[0].value === 0) &&
      !inFunction(around) &&
      !around.some((outer) => outer.type === "PropertyDefinition" && !outer.static),
  );
export const moduleCollections = moduleLevel(/^(?:Map|Set|WeakMap|WeakSet)$/);
export const moduleBuffers = moduleLevel(
  /^(?:(?:Big)?(?:Ui|I)nt\d+(?:Clamped)?Array|Float\d+Array|(?:Shared)?ArrayBuffer|DataView)$/,
);

/** Functions that change an element of this variable. */
export const changes = (source: string, name: string): string[] =>
  finder((node, around) => {
    const target = node.type === "AssignmentExpression" ? node.left : node.argument;
    const isAssigned = /^(?:Assignment|Update)Expression$/.test(node.type) && target.object?.name === name;
    const isCalled =
      isMember(node, /^(?:set|fill|sort|reverse|copyWithin)$/) &&
      node.object.name === name &&
      around[0]?.callee === node;
    return (isAssigned || isCalled) && inFunction(around);
  })(source);

/** Class statics that hold a value: they are read-only once preloaded. */
export const classStatics = finder(({ type, static: isStatic }) => type === "PropertyDefinition" && isStatic);

/**
 * Functions declared at module level: each has an unused prototype, 48 bytes of ROM. An async one
 * has none.
 */
export const declaredFunctions = finder(
  ({ type, async, generator }, [outer]) =>
    type === "FunctionDeclaration" &&
    !async &&
    !generator &&
    /^(?:Program|ExportNamedDeclaration)$/.test(outer?.type ?? ""),
);

/** Methods with a computed name: the linker strips names that no code mentions. */
export const computedMethods = finder(
  ({ type, computed, method, kind }) =>
    computed && (type === "MethodDefinition" || method || kind === "get" || kind === "set"),
);

/** Time and chance that do not come from the port. */
export const ambientTime = finder(
  (node) =>
    (isMember(node, /^now$/) && node.object.name === "Date") ||
    (isMember(node, /^random$/) && node.object.name === "Math") ||
    (node.type === "NewExpression" && node.callee.name === "Date" && node.arguments.length === 0),
);

const ADDRESSES = /\bregistry\.[a-z]|\bnpmjs\.|\bartifactory\b|\bverdaccio\b|https?:\/\/[^\s"']+\/-\//;

/** Places where a package registry is named by its host. */
export const registries = (text: string): string[] =>
  text
    .split("\n")
    .flatMap((line, i) => (ADDRESSES.test(line) ? [`line ${i + 1}: ${ADDRESSES.exec(line)![0]}`] : []));
