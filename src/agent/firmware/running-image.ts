import type { Host } from "../../port.js";
import type { UpdateRecord } from "./update-journal.js";

/**
 * Algorithm and checksum of the running image; empty if unknown. Only an update teaches it: an
 * image that was flashed has none.
 */
export const runningImage = ({ slot }: Pick<Host, "slot">, { image, runs }: UpdateRecord): string =>
  image !== "" && image === slot.image?.() ? runs : "";
