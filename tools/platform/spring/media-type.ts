// Content types as the platform's framework (Spring) reads and compares them.

export interface MediaType {
  readonly type: string;
  readonly subtype: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** What is wrong with a content type, in the framework's words. */
export class MediaTypeError extends Error {
  override name = "MediaTypeError";
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]*$/;
const BAD_SIGN = /[^!#$%&'*+\-.^_`|~0-9A-Za-z]/;

/** Throws MediaTypeError. */
export function parseMediaType(text: string): MediaType {
  const fail = (why: string): never => {
    throw new MediaTypeError(`Invalid mime type "${text}": ${why}`);
  };
  if (text.trim() === "") return fail("'mimeType' must not be empty");
  const [first = "", ...rest] = splitOutsideQuotes(text, ";");
  const full = first.trim() === "*" ? "*/*" : first.trim();
  if (full === "") return fail("'mimeType' must not be empty");
  const slash = full.indexOf("/");
  if (slash < 0) return fail("does not contain '/'");
  if (slash === full.length - 1) return fail("does not contain subtype after '/'");
  const type = full.slice(0, slash);
  const subtype = full.slice(slash + 1);
  if (type === "*" && subtype !== "*") return fail("wildcard type is legal only in '*/*' (all mime types)");
  checkToken(type, "type", fail);
  checkToken(subtype, "subtype", fail);
  return {
    type: type.toLowerCase(),
    subtype: subtype.toLowerCase(),
    parameters: parametersOf(text, rest, fail),
  };
}

function parametersOf(
  text: string,
  parts: readonly string[],
  fail: (why: string) => never,
): Record<string, string> {
  const parameters: Record<string, string> = {};
  for (const part of parts) {
    const equals = part.indexOf("=");
    if (equals < 0) continue;
    const name = part.slice(0, equals).trim();
    const value = part.slice(equals + 1).trim();
    if (value === "" && name !== "") fail("'value' must not be empty");
    checkToken(name, "parameter", fail);
    const isQuoted = /^(["']).*\1$/s.test(value) && value.length > 1;
    if (!isQuoted) checkToken(value, "value", fail);
    const bare = isQuoted ? value.slice(1, -1) : value;
    const lower = name.toLowerCase();
    if (lower === "charset") checkCharset(bare, fail);
    if (lower === "q" && !(Number(bare) >= 0 && Number(bare) <= 1))
      throw new MediaTypeError(
        `Invalid media type "${text}": Invalid quality value "${bare}": should be between 0.0 and 1.0`,
      );
    parameters[lower] = value;
  }
  return parameters;
}

function checkToken(text: string, what: string, fail: (why: string) => never): void {
  if (text === "") fail(`'${what}' must not be empty`);
  if (!TOKEN.test(text)) fail(`Invalid token character '${BAD_SIGN.exec(text)?.[0]}' in token "${text}"`);
}

function checkCharset(name: string, fail: (why: string) => never): void {
  if (!/^[A-Za-z0-9][A-Za-z0-9+.:_-]*$/.test(name)) fail(name);
  try {
    new TextDecoder(name);
  } catch {
    fail(`unsupported charset '${name}'`);
  }
}

/** What an Accept header asks for, the best first: all, if it says nothing; undefined if it can't be read. */
export function acceptedTypes(header: string | undefined): MediaType[] | undefined {
  if (header === undefined || header === "") return [ALL];
  try {
    const types = splitOutsideQuotes(header, ",")
      .filter((part) => part.trim() !== "")
      .map(parseMediaType);
    return types.length === 0 ? [ALL] : types;
  } catch (error) {
    if (error instanceof MediaTypeError) return undefined;
    throw error;
  }
}

const ALL: MediaType = { type: "*", subtype: "*", parameters: {} };

/** Of what can be made, what the device wants most; undefined if it wants none of it. `can` are types without parameters. */
export function negotiate(accepted: readonly MediaType[], can: readonly string[]): string | undefined {
  const fitting: MediaType[] = [];
  for (const wanted of accepted) {
    for (const name of can) {
      const made = parseMediaType(name);
      if (compatible(wanted, made)) fitting.push(moreSpecific(wanted, made));
    }
  }
  fitting.sort((one, other) => quality(other) - quality(one) || vagueness(one) - vagueness(other));
  for (const one of fitting) {
    if (vagueness(one) === 0) return shown(one);
    if (one.type === "*" || one.type === "application") return "application/octet-stream";
  }
  return undefined;
}

/** Whether one of the accepted types could be this one, whatever their weights. */
export function accepts(accepted: readonly MediaType[], name: string): boolean {
  const made = parseMediaType(name);
  return accepted.some((wanted) => compatible(wanted, made));
}

function compatible(one: MediaType, other: MediaType): boolean {
  if (one.type === "*" || other.type === "*") return true;
  if (one.type !== other.type) return false;
  if (one.subtype === other.subtype || one.subtype === "*" || other.subtype === "*") return true;
  return suffixFits(one.subtype, other.subtype) || suffixFits(other.subtype, one.subtype);
}

/** `*+json` stands for `vnd.x+json`. */
function suffixFits(pattern: string, subtype: string): boolean {
  return pattern.startsWith("*+") && subtype.endsWith(pattern.slice(1));
}

function moreSpecific(wanted: MediaType, made: MediaType): MediaType {
  const { q } = wanted.parameters;
  const chosen = vagueness(made) < vagueness(wanted) || vagueness(wanted) > 0 ? made : wanted;
  return q === undefined ? chosen : { ...chosen, parameters: { ...chosen.parameters, q } };
}

function vagueness({ type, subtype }: MediaType): number {
  if (type === "*") return 3;
  if (subtype === "*") return 2;
  return subtype.startsWith("*+") ? 1 : 0;
}

/** Of a parameter, without its quotes. */
export function unquoted(value: string): string {
  return /^(["']).*\1$/s.test(value) && value.length > 1 ? value.slice(1, -1) : value;
}

function quality({ parameters }: MediaType): number {
  return Number(unquoted(parameters.q ?? "1"));
}

function shown({ type, subtype, parameters }: MediaType): string {
  const others = Object.entries(parameters).filter(([name]) => name !== "q");
  return [`${type}/${subtype}`, ...others.map(([name, value]) => `${name}=${value}`)].join(";");
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    const sign = text[at];
    if (sign === '"') quoted = !quoted;
    else if (sign === "\\" && quoted) at++;
    else if (sign === separator && !quoted) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return parts;
}
