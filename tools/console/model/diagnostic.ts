// Diagnostic attributes of Mote and the platform, which the console folds away.

const PLATFORM = /^(?:active|last(?:Activity|Connect|Disconnect)Time|inactivityAlarmTime|provisionState)$/;

/** Set with the assigned package. The signature is not the platform's. */
const PACKAGE = /^[fs]w_(?:title|version|tag|size|checksum|checksum_algorithm|url)$/;

/** The platform writes it: another value would only mislead. */
export function isPlatforms(scope: "shared" | "client" | "server", key: string): boolean {
  return scope === "server" ? PLATFORM.test(key) : scope === "shared" && PACKAGE.test(key);
}

/** Shared attributes are never diagnostics: the operator sets them. */
export function isDiagnostic(scope: "shared" | "client" | "server", key: string): boolean {
  if (scope === "shared") return false;
  return /^mote[A-Z]/.test(key) || (scope === "server" && PLATFORM.test(key));
}
