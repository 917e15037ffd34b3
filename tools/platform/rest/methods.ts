import type { FastifyInstance } from "fastify";

interface Known {
  readonly pattern: readonly string[];
  readonly methods: Set<string>;
}

/** Remembers routes registered later. The result returns the methods of a path. */
export function rememberMethods(app: FastifyInstance): (path: string) => string[] {
  const known = new Map<string, Known>();
  app.addHook("onRoute", ({ url, method }) => {
    const entry = known.get(url) ?? { pattern: url.split("/"), methods: new Set() };
    for (const name of [method].flat()) entry.methods.add(name);
    known.set(url, entry);
  });
  return (path) => {
    const parts = path.split("/");
    const fitting = [...known.values()].filter(({ pattern }) => fits(pattern, parts));
    return [...new Set(fitting.flatMap(({ methods }) => [...methods]))].sort();
  };
}

function fits(pattern: readonly string[], parts: readonly string[]): boolean {
  return (
    pattern.length === parts.length &&
    pattern.every((part, index) => part === parts[index] || (part.startsWith(":") && parts[index] !== ""))
  );
}
