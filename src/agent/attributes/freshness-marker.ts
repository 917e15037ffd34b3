import { VERSION } from "../../version.js";

/** The client attribute that distinguishes an answer of GET attributes from a failed look-up. */
export const MARKER_KEY = "moteVersion";
export const MARKER_VALUE = `mote ${VERSION}`;
