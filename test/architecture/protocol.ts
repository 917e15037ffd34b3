// Reads docs/protocol.md's tables and the titles of tests.

/** A row of a table whose last column is "shown by". */
export interface Citation {
  readonly row: string;
  readonly names: readonly string[];
  /** Says that no test shows it. */
  readonly isStated: boolean;
}

const CELLS = /(?<!\\)\|/;
const HEADING = "shown by";

export function citations(markdown: string): Citation[] {
  const found: Citation[] = [];
  let inTable = false;
  for (const row of markdown.split("\n")) {
    if (!row.startsWith("|")) inTable = false;
    const last = row.split(CELLS).at(-2)?.trim() ?? "";
    if (inTable && !/^-+$/.test(last)) {
      const isStated = last === "—";
      found.push({ row, names: last === "" || isStated ? [] : last.split(" · "), isStated });
    }
    if (last === HEADING) inTable = true;
  }
  return found;
}

/** Where a named test is: `file: title`, the file below test/tools/platform or below test, or `surprise 3`, which has no file to name. */
export function whereIs(name: string): { path: readonly string[]; title: string } {
  if (/^surprise \d+$/.test(name))
    return {
      path: ["surprises", "surprises-data"].map((file) => `test/tools/platform/${file}.test.ts`),
      title: name,
    };
  if (/^checklist \d+$/.test(name)) return { path: ["test/tools/platform/checklist.test.ts"], title: name };
  const colon = name.indexOf(": ");
  const file = name.slice(0, Math.max(0, colon));
  return {
    path: [`test/tools/platform/${file}.test.ts`, `test/${file}.test.ts`],
    title: name.slice(colon + 2),
  };
}

/** `test("title"` and `test.serial("title"`; a placeholder of a template is \0. The mode that a title begins with is left out. */
export function titles(text: string): string[] {
  const calls = text
    .replace(/^\s*\/\/.*$/gm, "")
    .matchAll(/(?<![\w.])test(?:\.serial)?\(\s*(["'`])((?:\\.|(?!\1)[^\\])*)\1/g);
  return Array.from(calls, ([, , title = ""]) =>
    title
      .replace(/^\$\{[^}]*\}: /, "")
      .replace(/\$\{[^}]*\}/g, "\0")
      .replace(/\\(["'`])/g, "$1"),
  );
}

const MODES = ["documented", "deployed"];

/**
 * Whether a title of a file is the one that is named; a number stands for all titles that begin with it. What stands in a placeholder's
 * place must stand in the file, too.
 */
export function isTitleOf(named: string, title: string, file: string): boolean {
  if (/^(?:surprise|checklist) \d+$/.test(named)) return title.startsWith(`${named}: `);
  const parts = title.split("\0").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const [whole, ...filled] = new RegExp(`^${parts.join("(.+)")}$`).exec(named) ?? [];
  return whole !== undefined && filled.every((part) => MODES.includes(part) || file.includes(part));
}

/** The numbers of the list below a heading. */
export function numbered(markdown: string, heading: string): number[] {
  const [, section = ""] = markdown.split(new RegExp(`^## \\d+\\. ${heading}$`, "m"));
  const [list = ""] = section.split(/^## /m);
  return Array.from(list.matchAll(/^(\d+)\. /gm), ([, number]) => Number(number));
}
