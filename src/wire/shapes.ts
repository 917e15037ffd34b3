// Fast encoder for points. Most points have the same keys as an earlier one, which were validated
// then; only numbers, booleans and strings remain to be written. On XS it takes half the time.
import { isPlainKey } from "./keys.js";
import { longText, numberText } from "./text/numbers.js";
import { quote } from "./text/text.js";

interface Shape {
  readonly keys: string[];
  /** Text before each value: `{"temperature":`, `,"humidity":`. */
  readonly before: string[];
}

/** Allocated at the start and reused, so that the number of slots does not grow. */
const SHAPES = 3;
const KEYS = 16;
/** Adding and subtracting it rounds numbers below 2^51. */
const ROUND = 2 ** 52 * 1.5;
const tagOf = Object.prototype.toString;

/** Keys of points that the full encoder accepted. */
export class Shapes {
  /** Most recently used first. */
  private readonly _shapes: Shape[] = Array.from({ length: SHAPES }, () => ({ keys: [], before: [] }));

  /**
   * The text that the full encoder would write; undefined: use the full encoder. Reads each value
   * once.
   */
  encode(object: object, limit: number): string | undefined {
    try {
      if (tagOf.call(object) !== "[object Object]") return undefined;
      const keys = Object.keys(object);
      const shapes = this._shapes;
      for (let i = 0; i < shapes.length; i++) {
        const shape = shapes[i] as Shape;
        const text = textOf(shape, keys, object as Record<string, unknown>, limit);
        if (text === undefined) continue;
        if (i > 0) {
          shapes[i] = shapes[0] as Shape;
          shapes[0] = shape;
        }
        return text.length < limit ? text : undefined;
      }
    } catch {
      // A getter or proxy of the application threw.
    }
    return undefined;
  }

  /** Learns the keys of an object that the full encoder accepted. */
  learn(object: object): void {
    const keys = Object.keys(object);
    const known = keys.join();
    if (this._shapes.some((shape) => shape.keys.join() === known)) return;
    if (keys.length > KEYS || !keys.every(isPlainKey)) return;
    const shape = this._shapes.pop() as Shape;
    shape.keys.length = 0;
    shape.before.length = 0;
    for (const key of keys) {
      shape.before.push(`${shape.keys.length === 0 ? "{" : ","}"${key}":`);
      shape.keys.push(key);
    }
    this._shapes.unshift(shape);
  }
}

/** Undefined if the keys differ from `shape` or a value is unsupported. Avoids calls for speed. */
const textOf = (
  shape: Shape,
  keys: readonly string[],
  object: Readonly<Record<string, unknown>>,
  limit: number,
): string | undefined => {
  const { keys: known, before } = shape;
  const count = known.length;
  if (count === 0 || keys.length !== count) return undefined;
  let text = "";
  for (let i = 0; i < count; i++) {
    const key = keys[i] as string;
    if (key !== known[i]) return undefined;
    const value = object[key];
    // Whole, or at most six decimals and 15 digits: the engine's text is right.
    if (
      typeof value === "number" &&
      ((value | 0) === value ||
        ((value * 1e6 + ROUND - ROUND) / 1e6 === value && value < 1e9 && value > -1e9))
    ) {
      text += before[i] + (value as unknown as string);
      continue;
    }
    const scalar = scalarText(value, limit);
    if (scalar === undefined) return undefined;
    text += before[i] + scalar;
  }
  return `${text}}`;
};

const scalarText = (value: unknown, limit: number): string | undefined => {
  switch (typeof value) {
    case "number":
      return numberText(value);
    case "boolean":
      return value ? "true" : "false";
    case "string":
      // Check before copying.
      return value.length < limit ? quote(value) : undefined;
    case "bigint":
      return longText(value);
    default:
      return undefined;
  }
};
