import type { Host } from "../../port.js";

/**
 * Firmware updates, as an application sees them.
 *
 * An image starts only after its length and checksum were verified twice in the slot: before its
 * header is written, and before the restart. A download resumes after a lost connection without
 * repeating a byte; after a restart it repeats at most 16 KiB. A new image is confirmed only after
 * it reached the platform, passed `selfTest` and ran for `trialMs`. Otherwise the device rolls
 * back: after 10 min in which the platform answered, or 1 h in which it did not.
 *
 * An assigned image of the running title and version is another one if its checksum differs. An
 * image that was flashed knows no checksum and downloads no other image of its version.
 *
 * Reported as telemetry: `current_fw_title`, `current_fw_version`, `current_fw_checksum`,
 * `fw_state` (DOWNLOADING, DOWNLOADED, VERIFIED, UPDATING, UPDATED, FAILED), `fw_error` (empty
 * without an error), `fw_progress` (percent).
 *
 * `fw_error` is one of the names in failures.ts, with a detail in parentheses if there is one.
 *
 * A failed update is retried after 1 min, 10 min and 1 h. After that, and at once if a retry cannot
 * help (wrong checksum, wrong title), it waits for a new assignment or `retry()`. If the new image
 * could not reach the platform, or power was lost, it is always retried: every 6 h from the fourth
 * time on.
 */
export interface FirmwareApi {
  /** `firmware.title` of the options. */
  readonly title: string | undefined;

  /** Retries a failed update now, even if it waits for a new assignment. */
  retry(): void;
}

/** Without firmware options, there is nothing to retry. */
export const NO_FIRMWARE: FirmwareApi = { title: undefined, retry: () => {} };

/** Rolls back a pending image without firmware options, because it could never be updated. */
export const rejectUnmanagedImage = (host: Host): void => {
  if (host.slot.state() !== "pending") return;
  host.log("error", "rolling back: the new image has no firmware options and could never be updated");
  if (host.slot.revert()) host.restart("firmware");
};
