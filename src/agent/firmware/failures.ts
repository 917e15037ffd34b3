/**
 * Why an update failed: the text is what `fw_error` says. `condemns`: trying again can't help, only another assignment or `retry()`
 * does; the others are tried again after `RETRY_MS`. `keeps`: the bytes in the slot may still be good and are not fetched again.
 */
export const FAILURES = {
  // Refused before a byte is fetched.
  malformed: { text: "the assignment makes no sense", condemns: true, keeps: false },
  torn: { text: "the assignment is incomplete", condemns: true, keeps: false },
  urlHost: { text: "fw_url is on a host that firmware.urlHosts does not list", condemns: true, keeps: false },
  unverified: { text: "the package has no checksum", condemns: true, keeps: false },
  title: { text: "the title is not that of this device's firmware", condemns: true, keeps: false },
  slotSize: { text: "the image is larger than the slot", condemns: true, keeps: false },
  insecure: { text: "no update over http without a signature or allowHttp", condemns: true, keeps: false },
  unsigned: { text: "the image has no signature (fw_signature)", condemns: true, keeps: false },
  downgrade: { text: "the version is older than minimumVersion", condemns: true, keeps: false },
  notAllowed: { text: "the application does not allow this update", condemns: true, keeps: false },
  algorithm: { text: "this device can't compute the checksum", condemns: true, keeps: false },
  // While it is fetched.
  withdrawn: { text: "the assignment was withdrawn", condemns: false, keeps: false },
  changed: { text: "the platform refuses title and version", condemns: false, keeps: true },
  missing: { text: "the platform has no such package", condemns: false, keeps: true },
  refused: { text: "the platform refuses the download", condemns: false, keeps: true },
  unanswered: { text: "the platform does not hand out the image", condemns: false, keeps: true },
  short: { text: "the platform has fewer bytes than fw_size", condemns: false, keeps: false },
  length: { text: "the platform sent another length than was asked for", condemns: false, keeps: false },
  redirect: { text: "a redirect of fw_url is not followed", condemns: false, keeps: true },
  fileRefused: { text: "the server of fw_url refuses the file", condemns: false, keeps: true },
  fileUnanswered: { text: "the server of fw_url does not hand out the file", condemns: false, keeps: true },
  fileLength: {
    text: "the server of fw_url does not tell the length of the file",
    condemns: false,
    keeps: false,
  },
  fileChanged: {
    text: "the file at fw_url keeps changing, or can't be continued",
    condemns: false,
    keeps: false,
  },
  slot: { text: "the slot could not be written", condemns: false, keeps: false },
  // Before it is activated.
  checksum: { text: "wrong checksum", condemns: true, keeps: false },
  signature: { text: "the signature is not that of this device's key", condemns: true, keeps: false },
  damaged: { text: "wrong checksum after a download with a restart", condemns: false, keeps: false },
  readBack: { text: "the slot does not hold what was written", condemns: false, keeps: false },
  unfit: { text: "the device finds the image unfit to start", condemns: true, keeps: false },
  // Afterwards: the image before it runs again.
  notStarted: { text: "the new image did not start", condemns: false, keeps: true },
  notConfirmed: { text: "the new image ended before it was confirmed", condemns: false, keeps: true },
  notReached: {
    text: "the new image was not accepted by the platform in time",
    condemns: false,
    keeps: true,
  },
  offline: { text: "the new image could not reach the platform", condemns: false, keeps: true },
  notKept: {
    text: "the device could not store that the new image is kept",
    condemns: false,
    keeps: true,
  },
  selfTest: { text: "the new image failed its self test", condemns: true, keeps: false },
  misnamed: { text: "the new image calls itself by another title or version", condemns: true, keeps: false },
} as const;
export type Failure = keyof typeof FAILURES;

/** After the first, the second and the third failure; the fourth condemns. */
export const RETRY_MS = [60_000, 600_000, 3_600_000] as const;
