import test from "ava";
import { files, read } from "./tree.js";

const WIDTH = 120;
const DOCUMENTS = [
  ...["README.md", "CONTRIBUTING.md"].map((path) => ({ path, text: read(path) })),
  ...files("docs", /\.md$/),
];

/** Lines of prose that are too long: tables and code can't be wrapped, nor what has no blank to be wrapped at. */
function tooLong(text: string): string[] {
  let isCode = false;
  return text.split("\n").filter((line) => {
    if (line.startsWith("```")) isCode = !isCode;
    if (isCode || /^(?:\||#|<)/.test(line)) return false;
    const words = line.trim().replace(/`[^`]*`/g, (code) => code.replaceAll(" ", "_"));
    return line.length > WIDTH && words.includes(" ");
  });
}

for (const { path, text } of DOCUMENTS)
  test(`prose of ${path} wraps at ${WIDTH}`, (t) => {
    t.deepEqual(tooLong(text), []);
  });

test("long prose is found, and nothing else", (t) => {
  const long = "word ".repeat(30);
  t.deepEqual(tooLong(`${long}\n| ${long}\n# ${long}\n\`\`\`\n${long}\n\`\`\`\n\`${long}\`\n`), [long]);
});
