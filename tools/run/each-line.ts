const LONGEST_LINE = 2000;

/** Calls back with each line that is not blank, cut after `longest` characters. */
export function eachLine(
  stream: NodeJS.ReadableStream | null,
  take: (line: string) => void,
  longest = LONGEST_LINE,
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
