// The lines of a device's log, with the time of day where it is known.
import type { LogAnswer } from "../../../extras/diagnostics/index.js";
import { duration } from "../../duration.js";
import { clock } from "./format.js";

/** Newest first. Of runs before the present one only the time since their start is known. */
export function rowsOf({ uptime, lines }: LogAnswer, now: number): { id: string; cells: string[] }[] {
  let next = uptime;
  let isPresent = true;
  return [...lines].reverse().map(([at, level, text], index) => {
    isPresent &&= at <= next;
    next = at;
    const time = isPresent ? clock(now - (uptime - at) * 1_000, now) : `earlier, ${duration(at * 1_000)} up`;
    return { id: String(index), cells: [time, level, text] };
  });
}
