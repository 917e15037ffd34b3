/** A line's end. */
export const LF = 0x0a;
const [SLASH, HASH] = [0x2f, 0x23] as const;
/** Of the text. */
export const END = -1;

/** A place in a JSON text, and the way on past blanks and comments. */
export abstract class Cursor {
  protected readonly text: string;
  protected readonly length: number;
  protected at = 0;
  protected lines = 0;
  protected lineStart = 0;

  constructor(text: string) {
    this.text = text;
    this.length = text.length;
  }

  protected abstract fail(what: string): never;

  /** The next sign that is neither blank nor, if they are allowed, of a comment; END if there is none. It has been read then. */
  protected next(comments: boolean): number {
    for (;;) {
      if (this.at >= this.length) return END;
      const sign = this.text.charCodeAt(this.at++);
      if (sign === LF) this.newLine();
      else if (sign === 0x20 || sign === 0x0d || sign === 0x09) continue;
      else if (!comments || (sign !== SLASH && sign !== HASH)) return sign;
      else if (sign === HASH) this.skipLine();
      else if (!this.comment()) return sign;
    }
  }

  /** Behind a slash: whether a comment began there, which is then skipped. */
  private comment(): boolean {
    const sign = this.text[this.at];
    if (sign === "/") {
      this.at++;
      this.skipLine();
      return true;
    }
    if (sign !== "*") return false;
    const start = ++this.at;
    const end = this.text.indexOf("*/", start);
    this.at = end < 0 ? Math.max(start, this.length - 1) : end;
    this.countLines(start, this.at);
    if (end < 0) this.fail("Unterminated comment");
    this.at += 2;
    return true;
  }

  private skipLine(): void {
    while (this.at < this.length) {
      const sign = this.text.charCodeAt(this.at++);
      if (sign === LF) this.newLine();
      if (sign === LF || sign === 0x0d) return;
    }
  }

  protected countLines(from: number, to: number): void {
    for (let at = this.text.indexOf("\n", from); at >= 0 && at < to; at = this.text.indexOf("\n", at + 1)) {
      this.lines++;
      this.lineStart = at + 1;
    }
  }

  protected newLine(): void {
    this.lines++;
    this.lineStart = this.at;
  }
}
