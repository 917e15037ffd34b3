/** One entry of the local platform's request log, the newest last. Tokens in paths and secrets in bodies are redacted there. */
export interface LoggedRequest {
  /** When it came, in milliseconds since 1970. */
  ts: number;
  method: string;
  // With *** for the token: /api/v1/***/telemetry
  path: string;
  /** Undefined as long as it is open. */
  status?: number;
  device?: string | null;
  durationMs?: number;
  /** The first 200 bytes. */
  body?: string;
}

/** GET /api/requests: the local platform's own, for loopback alone; a real platform has no such call. */
export async function readRequests(url: string): Promise<LoggedRequest[]> {
  const response = await fetch(`${url}/api/requests`, {
    signal: AbortSignal.timeout(5_000),
    redirect: "error",
  });
  if (!response.ok) throw new Error(`the request log answered ${response.status}`);
  const entries = (await response.json()) as LoggedRequest[];
  if (!Array.isArray(entries)) throw new Error("the request log is no list");
  return entries;
}

/** Whether it is the device API's `method` on `resource` (`telemetry`, `rpc/3`, `provision`), and was accepted. */
export function accepted(entry: LoggedRequest, method: string, resource: RegExp): boolean {
  if (entry.method !== method || entry.status !== 200) return false;
  const path = entry.path.split("?")[0] ?? "";
  return resource.test(path.replace(/^\/api\/v1\//, ""));
}
