// The house rules as functions of a source: each gives what offends, as lines for people. None knows the file system.
import { scan, type Token } from "./scan.js";

const at = (token: Token, what: string): string => `line ${token.line}: ${what}`;

/** The specifiers of all imports of a source, dynamic ones and re-exports included. */
export function imports(source: string): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  for (let i = 1; i < tokens.length; i++) {
    const token = tokens[i]!;
    const before = tokens[i - 1]!;
    const called = before.text === "(" && tokens[i - 2]?.text === "import";
    const named = before.text === "from" || before.text === "import" || called;
    if (token.kind === "string" && before.text !== ":" && named) found.push(token.text.slice(1, -1));
    if (called && token.kind !== "string") found.push("(computed)");
  }
  return found;
}

const OF_LETTERS =
  /^(?:RegExp|match|matchAll|search|to(?:Locale)?(?:Low|Upp)erCase|localeCompare|normalize)$/;

/** Regular expressions, and methods by which the SDK's linker takes the engine's tables of all letters into an image (src/wire/text/characters.ts). */
export const tablesOfLetters = (source: string): string[] => {
  const tokens = scan(source);
  const isMethod = (i: number): boolean =>
    /\.$/.test(tokens[i - 1]?.text ?? "") || tokens[i]?.text === "RegExp";
  return tokens
    .filter(
      ({ kind, text }, i) => kind === "regexp" || (kind === "word" && OF_LETTERS.test(text) && isMethod(i)),
    )
    .map((token) => at(token, token.text));
};

const COLLECTION = /^(?:Map|Set|WeakMap|WeakSet)$/;
const BUFFER = /^(?:(?:Big)?(?:Ui|I)nt\d+(?:Clamped)?Array|Float\d+Array|(?:Shared)?ArrayBuffer|DataView)$/;

/** Module-level `new` of these types; a preloaded module's are read-only. A buffer without bytes can't be written anyway. */
function made(source: string, type: RegExp): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  tokens.forEach((token, i) => {
    const made = tokens[i + 1];
    if (token.text !== "new" || token.inFunction || made === undefined || !type.test(made.text)) return;
    const rest = tokens.slice(i + 2, i + 5).map(({ text }) => text);
    if (rest.join("") === "(0)") return;
    found.push(at(token, `${tokens[i - 2]?.text ?? "?"} = new ${made.text}`));
  });
  return found;
}

export const moduleCollections = (source: string): string[] => made(source, COLLECTION);
export const moduleBuffers = (source: string): string[] => made(source, BUFFER);

const CHANGES = /^(?:set|fill|sort|reverse|copyWithin)$/;

/** Where a function changes the elements of this variable. */
export function changes(source: string, name: string): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  tokens.forEach((token, i) => {
    if (token.text !== name || !token.inFunction || tokens[i - 1]?.text === ".") return;
    const next = tokens[i + 1]?.text;
    const end = tokens.findIndex(
      (other, j) => j > i + 1 && other.text === "]" && other.depth === token.depth,
    );
    const assigned = /^(?:[^=!<>]*=|\+\+|--)$/.test(tokens[end + 1]?.text ?? "");
    if (next === "[" && assigned) found.push(at(token, `${name}[...] changes`));
    if (next === "." && CHANGES.test(tokens[i + 2]?.text ?? "")) found.push(at(token, `${name} changes`));
  });
  return found;
}

/** Class statics that hold a value: read-only too once preloaded. */
export function classStatics(source: string): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  tokens.forEach((token, i) => {
    if (token.text !== "static" || tokens[i - 1]?.text === ".") return;
    const rest = tokens.slice(i + 1);
    const end = rest.find(({ text }) => text === "(" || text === "=" || text === ";" || text === "{");
    if (end?.text === "=" || end?.text === ";") found.push(at(token, `static ${rest[0]?.text}`));
  });
  return found;
}

/** Functions of a module that `function` declares, but for its default: each has a prototype that nobody uses, 48 bytes of a board's ROM. An async one has none. */
export function declaredFunctions(source: string): string[] {
  const tokens = scan(source);
  return tokens
    .filter(({ kind, text, depth }, i) => {
      const [before, next] = [tokens[i - 1]?.text, tokens[i + 1]?.text];
      const declares = kind === "word" && text === "function" && depth === 0;
      return declares && !/^(?:async|default|=)$/.test(before ?? "") && next !== "*";
    })
    .map((token) => at(token, `function ${tokens[tokens.indexOf(token) + 1]?.text}`));
}

const MEMBER_BEGINS = /^(?:[{,;}*]|get|set|async|static)$/;

/** Methods whose name is computed: the linker strips what no code names. */
export function computedMethods(source: string): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  tokens.forEach((token, i) => {
    if (token.text !== "[" || !MEMBER_BEGINS.test(tokens[i - 1]?.text ?? "")) return;
    const end = tokens.findIndex((other, j) => j > i && other.text === "]" && other.depth === token.depth);
    if (tokens[end + 1]?.text === "(" || tokens[end + 1]?.text === "<") found.push(at(token, "[...]()"));
  });
  return found;
}

const ABSENT =
  /^(?:set(?:Timeout|Interval|Immediate)|clear(?:Timeout|Interval|Immediate)|console|queueMicrotask|structuredClone|Text(?:En|De)coder|URL|URLSearchParams|AbortController|Intl|process|Buffer|performance|crypto|require|trace)$/;
const CHANCE: Record<string, string> = { Date: "now", Math: "random" };

/** Globals that XS lacks, and time and chance that do not come from the port. */
export function absentGlobals(source: string): string[] {
  const tokens = scan(source);
  const found: string[] = [];
  tokens.forEach((token, i) => {
    const [before, next, after] = [tokens[i - 1]?.text ?? "", tokens[i + 1]?.text ?? "", tokens[i + 2]?.text];
    if (token.kind !== "word" || before === "." || before === "?.") return;
    const isName = next === ":" || (next === "?" && after === ":");
    if (ABSENT.test(token.text) && !isName) found.push(at(token, token.text));
    const member = CHANCE[token.text];
    if (member !== undefined && next === "." && after === member)
      found.push(at(token, `${token.text}.${member}`));
    if (token.text === "Date" && before === "new" && after === ")") found.push(at(token, "new Date()"));
  });
  return found;
}

const ADDRESSES = /\bregistry\.[a-z]|\bnpmjs\.|\bartifactory\b|\bverdaccio\b|https?:\/\/[^\s"']+\/-\//;

/** Places where a package registry is named by its host. */
export function registries(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line, i) => (ADDRESSES.test(line) ? [`line ${i + 1}: ${ADDRESSES.exec(line)![0]}`] : []));
}
