// JSON that a person typed. JSON.parse would round a long whole number in silence, and another value would be set than was typed.

const TEXT = /"(?:[^"\\]|\\.)*"/g;
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const WHOLE = /^-?\d+$/;

/** The first number of that JSON that can't be sent as it stands: a whole one beyond 2^53 - 1, or one beyond a double. */
export function lossyNumber(json: string): string | undefined {
  const numbers = json.replaceAll(TEXT, "").match(NUMBER) ?? [];
  return numbers.find((text) => {
    const number = Number(text);
    return WHOLE.test(text) ? !Number.isSafeInteger(number) : !Number.isFinite(number);
  });
}
