/** What one check found. `advice`: what to set or do about it. */
export interface Finding {
  readonly level: "good" | "warning" | "bad" | "skipped";
  readonly what: string;
  readonly text: string;
  readonly advice?: string;
}

export const good = (what: string, text: string): Finding => ({ level: "good", what, text });
export const skipped = (what: string, text: string): Finding => ({ level: "skipped", what, text });
export const warning = (what: string, text: string, advice: string): Finding => ({
  ...{ level: "warning", what, text, advice },
});
export const bad = (what: string, text: string, advice: string): Finding => ({
  ...{ level: "bad", what, text, advice },
});
