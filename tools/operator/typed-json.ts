// JSON whose numbers are a person's: typed, or to be read. JSON.parse would round a long whole number in silence, and another value would be set or shown.

const TEXT = /"(?:[^"\\]|\\.)*"/g;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const TOKEN = new RegExp(`${TEXT.source}|${NUMBER.source}`, "g");
/** In every text that holds one. */
const LONG = /\d{16}|[eE]\+?\d{3}/;
const WHOLE = /^-?\d+$/;

/** The first number of that JSON that can't be sent as it stands: a whole one beyond 2^53 - 1, or one beyond a double. */
export function lossyNumber(json: string): string | undefined {
  const numbers = json.replaceAll(TEXT, "").match(NUMBER) ?? [];
  return numbers.find(isLossy);
}

/** JSON.parse, but each such number comes as the text that it was. Throws SyntaxError. */
export function parseUnrounded(json: string): unknown {
  const value: unknown = JSON.parse(json);
  if (!LONG.test(json)) return value;
  const kept = json.replaceAll(TOKEN, (token) => (token[0] !== '"' && isLossy(token) ? `"${token}"` : token));
  return JSON.parse(kept);
}

function isLossy(text: string): boolean {
  const number = Number(text);
  return WHOLE.test(text) ? !Number.isSafeInteger(number) : !Number.isFinite(number);
}
