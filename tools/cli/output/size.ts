/** `512 B`, `1.5 kB`, `50 MB`: one figure behind the point below ten. */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}
