// Attributes that the platform itself writes: another value would only mislead.

const SERVER = /^(?:active|last(?:Activity|Connect|Disconnect)Time|inactivityAlarmTime|provisionState)$/;
/** Set with the assigned package. The signature is not the platform's. */
const PACKAGE = /^[fs]w_(?:title|version|tag|size|checksum|checksum_algorithm|url)$/;

export function isPlatforms(scope: "shared" | "client" | "server", key: string): boolean {
  return scope === "server" ? SERVER.test(key) : scope === "shared" && PACKAGE.test(key);
}
