/**
 * Whether `text` fits a pattern in which `*` stands for any characters, none included. In time of
 * both lengths' product at most.
 */
export function fits(pattern: string, text: string): boolean {
  let at = 0;
  let place = 0;
  let star = -1;
  let resume = 0;
  while (place < text.length) {
    if (pattern[at] === "*") {
      star = at++;
      resume = place;
    } else if (at < pattern.length && pattern[at] === text[place]) {
      at++;
      place++;
    } else if (star >= 0) {
      at = star + 1;
      place = ++resume;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}
