import { InvalidArgumentError } from "commander";

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f-])/gi;
const NAMED = /[?&#]view(?:Config)?Id=([0-9a-f-]{36})(?![0-9a-f-])/i;

/** The id of a view: a UUID, or the view's link, which names it or ends with it. For commander. */
export function viewId(text: string): string {
  const found: string[] = text.match(UUID) ?? [];
  const named = NAMED.exec(text)?.[1];
  const id = named !== undefined && found.includes(named) ? named : found.at(-1);
  const isAlone = found.length === 1 && found[0] === text;
  if (id !== undefined && (isAlone || /^https?:\/\//i.test(text))) return id.toLowerCase();
  throw new InvalidArgumentError("Expected the UUID of a view, or its link.");
}
