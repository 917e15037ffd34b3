// Attributes that Mote or the platform writes for diagnosis: of little use beside the application's own.

const PLATFORM = /^(?:active|last(?:Activity|Connect|Disconnect)Time|inactivityAlarmTime|provisionState)$/;

/** Shared attributes are never diagnostics: the operator sets them. */
export function isDiagnostic(scope: "shared" | "client" | "server", key: string): boolean {
  if (scope === "shared") return false;
  return /^mote[A-Z]/.test(key) || (scope === "server" && PLATFORM.test(key));
}
