/** What follows a failure, and when retries end: until another assignment or `retry()`. */
type After =
  /** A retry cannot help. */
  | "condemn"
  /** Retried, from the first byte; no more after the fourth such failure. */
  | "restart"
  /** The same, but the bytes in the slot may be good and are not downloaded again. */
  | "resume"
  /** Like `resume`, but always retried, because the image may not be at fault. */
  | "spare";

const condemn = (text: string) => ({ text, after: "condemn" }) as const;
const restart = (text: string) => ({ text, after: "restart" }) as const;
const resume = (text: string) => ({ text, after: "resume" }) as const;
const spare = (text: string) => ({ text, after: "spare" }) as const;

/** Reasons why an update fails. The text is reported as `fw_error`. */
export const FAILURES = {
  // Refused before a byte is downloaded.
  malformed: condemn("the assignment is invalid"),
  torn: condemn("the assignment is incomplete"),
  urlHost: condemn("fw_url is on a host that firmware.urlHosts does not list"),
  urlForm: condemn("fw_url cannot be used"),
  unverified: condemn("the package has no checksum: give it one, or set firmware.allowUnverified"),
  title: condemn("the title is not firmware.title of this device"),
  slotSize: condemn("the image is larger than the slot"),
  insecure: condemn("an update over http needs a signature or firmware.allowHttp"),
  unsigned: condemn("the image has no signature (fw_signature)"),
  downgrade: condemn("the version is older than firmware.minimumVersion"),
  notAllowed: condemn("the application does not allow this update"),
  algorithm: condemn("this device does not support the checksum algorithm"),
  // During the download.
  withdrawn: restart("the assignment was withdrawn"),
  missing: resume("the platform has no such package"),
  refused: resume("the server refuses the download"),
  unanswered: resume("the server does not deliver the image"),
  length: restart("the server sent a different length than requested"),
  redirect: resume("a redirect of fw_url was rejected"),
  fileLength: restart("the server of fw_url does not state the length of the file"),
  fileCoded: restart("the server of fw_url sends the file compressed: switch that off for this file"),
  fileChanged: restart("the file at fw_url keeps changing, or its download cannot be resumed"),
  slot: restart("the slot could not be written"),
  // Before activation.
  checksum: condemn("wrong checksum"),
  signature: condemn("the signature does not match firmware.publicKey"),
  damaged: restart("wrong checksum after a resumed download"),
  readBack: restart("the slot does not contain the written bytes"),
  unfit: resume("the image could not be activated: it is not bootable, or storage failed"),
  // After activation: the device rolled back.
  notStarted: resume("the new image did not start"),
  notConfirmed: resume("the new image ended before it was confirmed"),
  interrupted: spare("power was lost before the new image was confirmed"),
  notReached: resume("the platform did not accept the new image in time"),
  offline: spare("the new image could not reach the platform"),
  notKept: resume("the device could not confirm the new image"),
  selfTest: condemn("the new image failed its self-test"),
  misnamed: condemn("the new image has a different title or version than assigned"),
} as const satisfies Record<string, { readonly text: string; readonly after: After }>;
export type Failure = keyof typeof FAILURES;

/**
 * Delays before the first, second and third retry; the last one repeats for failures that never
 * condemn.
 */
export const RETRY_MS = [60_000, 600_000, 3_600_000, 21_600_000] as const;
/** Maximum number of failures caused by the image itself before it is condemned. */
export const MAX_FAILURES = 3;
