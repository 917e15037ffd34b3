/**
 * Reasons why an update fails.
 * - The text is reported as `fw_error`.
 * - `condemns`: when retries end until another assignment or `retry()`: `now`, because a retry
 *   cannot help; `later`, after the fourth such failure; `never`, because the image may not be at
 *   fault.
 * - `keeps`: the bytes in the slot may still be good and are not downloaded again.
 */
export const FAILURES = {
  // Refused before a byte is downloaded.
  malformed: { text: "the assignment is invalid", condemns: "now", keeps: false },
  torn: { text: "the assignment is incomplete", condemns: "now", keeps: false },
  urlHost: {
    text: "fw_url is on a host that firmware.urlHosts does not list",
    condemns: "now",
    keeps: false,
  },
  urlForm: { text: "fw_url cannot be used", condemns: "now", keeps: false },
  unverified: {
    text: "the package has no checksum: give it one, or set firmware.allowUnverified",
    condemns: "now",
    keeps: false,
  },
  title: { text: "the title is not firmware.title of this device", condemns: "now", keeps: false },
  slotSize: { text: "the image is larger than the slot", condemns: "now", keeps: false },
  insecure: {
    text: "an update over http needs a signature or firmware.allowHttp",
    condemns: "now",
    keeps: false,
  },
  unsigned: { text: "the image has no signature (fw_signature)", condemns: "now", keeps: false },
  downgrade: { text: "the version is older than firmware.minimumVersion", condemns: "now", keeps: false },
  notAllowed: { text: "the application does not allow this update", condemns: "now", keeps: false },
  algorithm: { text: "this device does not support the checksum algorithm", condemns: "now", keeps: false },
  // During the download.
  withdrawn: { text: "the assignment was withdrawn", condemns: "later", keeps: false },
  changed: { text: "the platform refuses the title and version", condemns: "later", keeps: true },
  missing: { text: "the platform has no such package", condemns: "later", keeps: true },
  refused: { text: "the platform refuses the download", condemns: "later", keeps: true },
  unanswered: { text: "the platform does not deliver the image", condemns: "later", keeps: true },
  short: { text: "the platform has fewer bytes than fw_size", condemns: "later", keeps: false },
  length: { text: "the platform sent a different length than requested", condemns: "later", keeps: false },
  redirect: { text: "a redirect of fw_url was rejected", condemns: "later", keeps: true },
  fileRefused: { text: "the server of fw_url refuses the file", condemns: "later", keeps: true },
  fileUnanswered: { text: "the server of fw_url does not deliver the file", condemns: "later", keeps: true },
  fileLength: {
    text: "the server of fw_url does not state the length of the file",
    condemns: "later",
    keeps: false,
  },
  fileCoded: {
    text: "the server of fw_url sends the file compressed: switch that off for this file",
    condemns: "later",
    keeps: false,
  },
  fileChanged: {
    text: "the file at fw_url keeps changing, or its download cannot be resumed",
    condemns: "later",
    keeps: false,
  },
  slot: { text: "the slot could not be written", condemns: "later", keeps: false },
  // Before activation.
  checksum: { text: "wrong checksum", condemns: "now", keeps: false },
  signature: { text: "the signature does not match firmware.publicKey", condemns: "now", keeps: false },
  damaged: { text: "wrong checksum after a resumed download", condemns: "later", keeps: false },
  readBack: { text: "the slot does not contain the written bytes", condemns: "later", keeps: false },
  unfit: { text: "the image is not bootable on this device", condemns: "now", keeps: false },
  // After activation: the device rolled back.
  notStarted: { text: "the new image did not start", condemns: "later", keeps: true },
  notConfirmed: { text: "the new image ended before it was confirmed", condemns: "later", keeps: true },
  interrupted: {
    text: "power was lost before the new image was confirmed",
    condemns: "never",
    keeps: true,
  },
  notReached: {
    text: "the platform did not accept the new image in time",
    condemns: "later",
    keeps: true,
  },
  offline: { text: "the new image could not reach the platform", condemns: "never", keeps: true },
  notKept: {
    text: "the device could not confirm the new image",
    condemns: "later",
    keeps: true,
  },
  selfTest: { text: "the new image failed its self-test", condemns: "now", keeps: false },
  misnamed: {
    text: "the new image has a different title or version than assigned",
    condemns: "now",
    keeps: false,
  },
} as const;
export type Failure = keyof typeof FAILURES;

/**
 * Delays before the first, second and third retry; the last one repeats for failures that never
 * condemn.
 */
export const RETRY_MS = [60_000, 600_000, 3_600_000, 21_600_000] as const;
/** Maximum number of failures caused by the image itself before it is condemned. */
export const MAX_FAILURES = 3;
