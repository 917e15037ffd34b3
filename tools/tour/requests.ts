import type { LoggedRequest } from "../operator/shapes.js";

/** True for an accepted request to `resource`: `telemetry`, `rpc/3`, `provision`. */
export function accepted(
  entry: Pick<LoggedRequest, "method" | "path" | "status">,
  method: string,
  resource: RegExp,
): boolean {
  if (entry.method !== method || entry.status !== 200) return false;
  const path = entry.path.split("?")[0] ?? "";
  return resource.test(path.replace(/^\/api\/v1\//, ""));
}
