import type { Json } from "../json/json.js";

/**
 * What a rule chain with an "rpc call reply" node would answer, as JSON text. Undefined: nothing
 * ever comes, which is what a stock server does with every method. `getCurrentTime` -> milliseconds
 * since 1970; `getTime` -> `{"time":"2026 11 20 11:44:12.287"}` (UTC).
 */
export function answerClientRpc(method: string, _params: Json, now: number): string | undefined {
  if (method === "getCurrentTime") return String(now);
  if (method === "getTime") return JSON.stringify({ time: spelt(now) });
  return undefined;
}

function spelt(now: number): string {
  const iso = new Date(now).toISOString();
  return `${iso.slice(0, 10).replaceAll("-", " ")} ${iso.slice(11, -1)}`;
}
