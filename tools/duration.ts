/** `12 ms`, `8 s`, `3 min`, `2 h`, `5 d`: one unit, rounded. */
export function duration(ms: number): string {
  const s = Math.max(0, ms) / 1000;
  if (s < 1) return `${Math.round(s * 1000)} ms`;
  if (s < 10) return `${Number(s.toFixed(1))} s`;
  if (s < 120) return `${Math.round(s)} s`;
  if (s < 7_200) return `${Math.round(s / 60)} min`;
  return s < 172_800 ? `${Math.round(s / 3_600)} h` : `${Math.round(s / 86_400)} d`;
}

/** `12 s ago`, in whole seconds. `ms`: Unix time. */
export function ago(ms: number, now = Date.now()): string {
  const s = Math.round(Math.max(0, now - ms) / 1000);
  return `${s === 0 ? "0 s" : duration(s * 1000)} ago`;
}
