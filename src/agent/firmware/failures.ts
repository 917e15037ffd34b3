/**
 * Why an update failed: the text is what `fw_error` says. `condemns`: an image is not tried again until another assignment or `retry()`: `now`, as
 * trying again can't help; `later`, with the fourth such failure; `never`, as it may not be the image's fault. `keeps`: the bytes in the
 * slot may still be good and are not fetched again.
 */
export const FAILURES = {
  // Refused before a byte is fetched.
  malformed: { text: "the assignment makes no sense", condemns: "now", keeps: false },
  torn: { text: "the assignment is incomplete", condemns: "now", keeps: false },
  urlHost: {
    text: "fw_url is on a host that firmware.urlHosts does not list",
    condemns: "now",
    keeps: false,
  },
  unverified: { text: "the package has no checksum", condemns: "now", keeps: false },
  title: { text: "the title is not that of this device's firmware", condemns: "now", keeps: false },
  slotSize: { text: "the image is larger than the slot", condemns: "now", keeps: false },
  insecure: { text: "no update over http without a signature or allowHttp", condemns: "now", keeps: false },
  unsigned: { text: "the image has no signature (fw_signature)", condemns: "now", keeps: false },
  downgrade: { text: "the version is older than minimumVersion", condemns: "now", keeps: false },
  notAllowed: { text: "the application does not allow this update", condemns: "now", keeps: false },
  algorithm: { text: "this device can't compute the checksum", condemns: "now", keeps: false },
  // While it is fetched.
  withdrawn: { text: "the assignment was withdrawn", condemns: "later", keeps: false },
  changed: { text: "the platform refuses title and version", condemns: "later", keeps: true },
  missing: { text: "the platform has no such package", condemns: "later", keeps: true },
  refused: { text: "the platform refuses the download", condemns: "later", keeps: true },
  unanswered: { text: "the platform does not hand out the image", condemns: "later", keeps: true },
  short: { text: "the platform has fewer bytes than fw_size", condemns: "later", keeps: false },
  length: { text: "the platform sent another length than was asked for", condemns: "later", keeps: false },
  redirect: { text: "a redirect of fw_url is not followed", condemns: "later", keeps: true },
  fileRefused: { text: "the server of fw_url refuses the file", condemns: "later", keeps: true },
  fileUnanswered: { text: "the server of fw_url does not hand out the file", condemns: "later", keeps: true },
  fileLength: {
    text: "the server of fw_url does not state the length of the file",
    condemns: "later",
    keeps: false,
  },
  fileChanged: {
    text: "the file at fw_url keeps changing, or can't be continued",
    condemns: "later",
    keeps: false,
  },
  slot: { text: "the slot could not be written", condemns: "later", keeps: false },
  // Before it is activated.
  checksum: { text: "wrong checksum", condemns: "now", keeps: false },
  signature: { text: "the signature is not that of this device's key", condemns: "now", keeps: false },
  damaged: { text: "wrong checksum after a download with a restart", condemns: "later", keeps: false },
  readBack: { text: "the slot does not hold what was written", condemns: "later", keeps: false },
  unfit: { text: "the device finds the image unfit to start", condemns: "now", keeps: false },
  // Afterwards: the image before it runs again.
  notStarted: { text: "the new image did not start", condemns: "later", keeps: true },
  notConfirmed: { text: "the new image ended before it was confirmed", condemns: "later", keeps: true },
  interrupted: {
    text: "the power went before the new image was confirmed",
    condemns: "never",
    keeps: true,
  },
  notReached: {
    text: "the new image was not accepted by the platform in time",
    condemns: "later",
    keeps: true,
  },
  offline: { text: "the new image could not reach the platform", condemns: "never", keeps: true },
  notKept: {
    text: "the device could not store that the new image is kept",
    condemns: "later",
    keeps: true,
  },
  selfTest: { text: "the new image failed its self test", condemns: "now", keeps: false },
  misnamed: { text: "the new image calls itself by another title or version", condemns: "now", keeps: false },
} as const;
export type Failure = keyof typeof FAILURES;

/** After the first, the second and the third failure, and after each one more that does not condemn. */
export const RETRY_MS = [60_000, 600_000, 3_600_000, 21_600_000] as const;
/** So many of the image's own are borne. */
export const MOST_FAILURES = 3;
