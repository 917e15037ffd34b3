import stringWidth from "string-width";

/** Wraps paragraphs to the width. Lines that start with a space, such as examples, stay. */
export function reflow(text: string, width: number): string {
  const lines: string[] = [];
  let isOpen = false;
  for (const line of text.split("\n")) {
    const isProse = line !== "" && !line.startsWith(" ");
    const words = isProse && isOpen ? [lines.pop() ?? "", ...line.split(" ")] : line.split(" ");
    lines.push(...(isProse ? filled(words, width) : [line]));
    isOpen = isProse;
  }
  return lines.join("\n");
}

function filled(words: readonly string[], width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const line = lines.at(-1);
    if (line !== undefined && stringWidth(line) + 1 + stringWidth(word) <= width)
      lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
