// Files that import one another in a circle, types included: none of them can be read, tested or moved without the others.
import { posix } from "node:path";
import { imports } from "./rules.js";
import type { Source } from "./tree.js";

/** Of each file the files that it imports. */
export type Graph = ReadonlyMap<string, readonly string[]>;

/** The imports among these files. */
export function graphOf(sources: readonly Source[]): Graph {
  const known = new Set(sources.map(({ path }) => path));
  const find = (from: string, specifier: string): string[] => {
    const path = posix.join(posix.dirname(from), specifier);
    const names = [path.replace(/\.js$/, ".ts"), path.replace(/\.js$/, ".d.ts"), path];
    return names.filter((name) => known.has(name)).slice(0, 1);
  };
  return new Map(
    sources.map(({ path, text }) => [
      path,
      imports(text)
        .filter((name) => name.startsWith("."))
        .flatMap((name) => find(path, name)),
    ]),
  );
}

/** What no order of reading can take apart: each list is the files of one circle, or of several that share a file. */
export function circles(graph: Graph): string[][] {
  const left = new Map([...graph].map(([file, imported]) => [file, new Set(imported)]));
  // What imports nothing that is left is in no circle, nor is what nothing imports that is left.
  for (let before = -1; before !== left.size; ) {
    before = left.size;
    const wanted = new Set([...left.values()].flatMap((imported) => [...imported]));
    for (const [file, imported] of left) {
      for (const name of imported) if (!left.has(name)) imported.delete(name);
      if (imported.size === 0 || !wanted.has(file)) left.delete(file);
    }
  }
  const reached = (from: string): Set<string> => {
    const found = new Set<string>();
    const next = [...(left.get(from) ?? [])];
    for (let file = next.pop(); file !== undefined; file = next.pop()) {
      if (found.has(file)) continue;
      found.add(file);
      next.push(...(left.get(file) ?? []));
    }
    return found;
  };
  const reach = new Map([...left.keys()].map((file) => [file, reached(file)]));
  const found = new Map<string, string[]>();
  for (const [file, all] of reach) {
    if (!all.has(file)) continue;
    const circle = [...all].filter((other) => reach.get(other)?.has(file)).sort();
    found.set(circle.join(), circle);
  }
  return [...found.values()];
}
