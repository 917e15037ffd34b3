/**
 * The answer of a rule chain with an "rpc call reply" node, as JSON text: `getCurrentTime` gives
 * milliseconds since 1970, `getTime` `{"time":"2026 11 20 11:44:12.287"}` (UTC). Undefined: no
 * answer ever comes, as for every method on a stock server.
 */
export function answerClientRpc(method: string, now: number): string | undefined {
  if (method === "getCurrentTime") return String(now);
  if (method !== "getTime") return undefined;
  const iso = new Date(now).toISOString();
  return JSON.stringify({ time: `${iso.slice(0, 10).replaceAll("-", " ")} ${iso.slice(11, -1)}` });
}
