import type { Host } from "../../port.js";
import type { Firmware } from "./firmware.js";

/**
 * Firmware updates, as an application sees them.
 *
 * An image starts only after its length and checksum were verified twice: during the download, and read back from
 * the slot. A download continues after a dropped connection without fetching a byte twice, and after a restart
 * fetches 16 KiB again at most. A new image is confirmed only after it reached the platform and passed `selfTest`.
 * Otherwise the device rolls back: after 10 min in which the platform answered, or 1 h in which it did not.
 *
 * Reported as telemetry: `current_fw_title`, `current_fw_version`, `fw_state` (DOWNLOADING, DOWNLOADED, VERIFIED,
 * UPDATING, UPDATED, FAILED), `fw_error` (empty if there is none), `fw_progress` (percent). A failed update is tried
 * again after 1 min, 10 min and 1 h. After that, and at once where a retry cannot help (a wrong checksum, another
 * device's title), it waits for a new assignment or `retry()`. A new image that could not reach the platform, or lost
 * its power, is tried again all the same: every 6 h after the third time.
 */
export class FirmwareApi {
  private readonly _job: Firmware | undefined;

  constructor(job: Firmware | undefined) {
    this._job = job;
  }

  /** `firmware.title` of the options. */
  get title(): string | undefined {
    return this._job?.title;
  }

  /** Tries a failed update again now, even one that waits for a new assignment. */
  retry(): void {
    this._job?.retry();
  }

  /**
   * Whether the holder of the firmware key signed `bytes`, which must begin with "\0mote ".
   * `signature`: DER in hexadecimal digits. False without `firmware.publicKey`. Takes a board seconds.
   */
  async isSigned(bytes: Uint8Array, signature: string): Promise<boolean> {
    return this._job?.isSigned(bytes, signature) ?? false;
  }

  /** For Recovery: an image is being downloaded. */
  get downloading(): boolean {
    return this._job?.downloading === true;
  }

  /** For Recovery: the last run ended by a power loss. */
  interrupted(): void {
    this._job?.interrupted();
  }

  /** For Recovery: why the last run crashed. */
  crashed(cause: string): void {
    this._job?.crashed(cause);
  }
}

/** Rolls back an image on trial that has no firmware options: no update could ever replace it. */
export const rejectUnmanagedImage = (host: Host): void => {
  if (host.slot.state() !== "pending") return;
  host.log("error", "rolling back: the new image has no firmware options and could never be updated");
  if (host.slot.revert()) host.restart("firmware");
};
