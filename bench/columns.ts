/** Rows of cells as lines of text in columns. `isText`: columns that begin on the left. */
export function columns(rows: readonly (readonly string[])[], isText: (column: number) => boolean): string[] {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows.map((row) =>
    row
      .map((cell, i) => (isText(i) ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
      .join("  ")
      .trimEnd(),
  );
}
