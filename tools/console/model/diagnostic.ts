// Diagnostic attributes of Mote and the platform, which the console folds away.
import { isPlatforms } from "../../operator/platform-keys.js";

/** Shared attributes are never diagnostics: the operator sets them. */
export function isDiagnostic(scope: "shared" | "client" | "server", key: string): boolean {
  if (scope === "shared") return false;
  return /^mote[A-Z]/.test(key) || (scope === "server" && isPlatforms(scope, key));
}
