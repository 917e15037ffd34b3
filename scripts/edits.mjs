// Changes of a text, by place. What stands for a part may hold other parts of it, with the changes within them.
import { parse } from "acorn";

/** The module's text changed as `editsOf` its tree says, until there is no more to change. Throws if it is none. */
export function rounds(text, editsOf) {
  let changed = text;
  for (;;) {
    const edits = editsOf(parse(changed, { ecmaVersion: "latest", sourceType: "module" }));
    if (edits.length === 0) return changed;
    changed = withEdits(changed, edits);
  }
}

/** A part of the text that is changed: `parts` stand for it, texts or nodes. */
export function withEdits(text, edits) {
  // What is put in stands before what is changed there, and the whole before its part.
  const rank = ({ start, end }) => (start === end ? -Infinity : -end);
  const order = (a, b) => a.start - b.start || (rank(a) < rank(b) ? -1 : 1);
  const sorted = [...edits].sort(order);
  const render = (start, end) => {
    let written = "";
    let at = start;
    for (let n = firstFrom(sorted, start); n < sorted.length && sorted[n].start < end; n += 1) {
      const edit = sorted[n];
      if (edit.start < at || edit.end > end) continue;
      written += text.slice(at, edit.start);
      for (const part of edit.parts)
        written += typeof part === "string" ? part : render(part.start, part.end);
      at = edit.end;
    }
    return written + text.slice(at, end);
  };
  return render(0, text.length);
}

function firstFrom(sorted, start) {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle].start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}
