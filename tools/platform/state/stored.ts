// What the lines of a state file amount to: a later line replaces or removes what earlier ones brought.
import type { Kind } from "../core/journal.js";

type Point = readonly ["point", device: string, key: string, ts: number, value: string];
type Attribute = readonly [
  "attribute",
  device: string,
  scope: string,
  key: string,
  ts: number,
  value: string,
];

export type Line =
  | readonly ["setting", name: string, value: string]
  | readonly ["record", kind: Kind, id: string, record: object]
  | readonly ["removed", kind: Kind, id: string]
  | readonly ["file", packageId: string, base64: string]
  | Attribute
  | readonly ["attributeGone", device: string, scope: string, key: string]
  | Point
  /** Null: no limit. */
  | readonly ["pointsGone", device: string, key: string, startTs: number | null, endTs: number | null];

export class Stored {
  readonly settings = new Map<string, string>();
  /** By kind and id, in the order in which they were made. */
  readonly #records = new Map<string, readonly ["record", Kind, string, object]>();
  /** Base64, by package. */
  readonly files = new Map<string, string>();
  /** By device, then by scope and key. */
  readonly #attributes = new Map<string, Map<string, Attribute>>();
  /** By device, key and time. */
  readonly #points = new Map<string, Map<string, Map<number, Point>>>();

  records(kind: Kind): unknown[] {
    return [...this.#records.values()].flatMap(([, one, , record]) => (one === kind ? [record] : []));
  }

  *attributes(): Generator<Attribute> {
    for (const all of this.#attributes.values()) yield* all.values();
  }

  *points(): Generator<Point> {
    for (const keys of this.#points.values()) for (const points of keys.values()) yield* points.values();
  }

  /** As few lines as bring it back. */
  *lines(): Generator<Line> {
    for (const [name, value] of this.settings) yield ["setting", name, value];
    yield* this.#records.values();
    for (const [id, base64] of this.files) yield ["file", id, base64];
    yield* this.attributes();
    yield* this.points();
  }

  take(line: Line): void {
    switch (line[0]) {
      case "setting":
        this.settings.set(line[1], line[2]);
        break;
      case "record":
        this.#records.set(`${line[1]} ${line[2]}`, line);
        break;
      case "removed":
        this.#remove(line[1], line[2]);
        break;
      case "file":
        this.files.set(line[1], line[2]);
        break;
      case "attribute":
        childOf(this.#attributes, line[1]).set(`${line[2]} ${line[3]}`, line);
        break;
      case "attributeGone":
        this.#attributes.get(line[1])?.delete(`${line[2]} ${line[3]}`);
        break;
      case "point":
        childOf(childOf(this.#points, line[1]), line[2]).set(line[3], line);
        break;
      case "pointsGone": {
        const [, device, key, start, end] = line;
        const points = this.#points.get(device)?.get(key);
        for (const ts of points?.keys() ?? [])
          if (ts >= (start ?? Number.NEGATIVE_INFINITY) && ts < (end ?? Number.POSITIVE_INFINITY))
            points?.delete(ts);
        break;
      }
      default:
        throw new TypeError("a line of no known kind");
    }
  }

  #remove(kind: Kind, id: string): void {
    this.#records.delete(`${kind} ${id}`);
    if (kind === "package") this.files.delete(id);
    if (kind !== "device") return;
    this.#attributes.delete(id);
    this.#points.delete(id);
  }
}

function childOf<K, Key, Value>(parents: Map<K, Map<Key, Value>>, key: K): Map<Key, Value> {
  const child = parents.get(key) ?? new Map<Key, Value>();
  parents.set(key, child);
  return child;
}
