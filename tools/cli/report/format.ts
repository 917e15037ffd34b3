import type { Row } from "../../../src/report/index.js";

/** Gives the text of each part; columns are known before the first row where they are needed. */
export interface Format {
  readonly needsColumns: boolean;
  head(columns: readonly string[]): string;
  row(row: Row): string;
  end(): string;
  /** What did not find room, for people. */
  readonly leftOut?: string | undefined;
}
