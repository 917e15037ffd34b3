/**
 * Shown of a line, and read of it, so that a secret at its end is still whole when it is cleaned.
 */
const LONGEST_LINE = 2000;
const LONGEST_READ = 3000;

/** What is shown of a line. Cleaned first: half a secret at the cut would not be recognized. */
export const cutLine = (line: string, clean: (text: string) => string): string =>
  clean(line).slice(0, LONGEST_LINE);

/** Calls back with each line that is not blank, cut after `longest` characters. */
export function eachLine(
  stream: NodeJS.ReadableStream | null,
  take: (line: string) => void,
  longest = LONGEST_READ,
): void {
  let rest = "";
  const end = (lines: readonly string[]): void => {
    for (const line of lines) if (line.trim() !== "") take(line.slice(0, longest));
  };
  stream?.setEncoding("utf8");
  stream?.on("error", () => {});
  stream?.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = (lines.pop() ?? "").slice(0, longest);
    end(lines);
  });
  stream?.on("end", () => end([rest]));
}
