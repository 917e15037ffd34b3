import { VERSION } from "../common/version.js";

/** The client attribute by which an answer of GET attributes is told from a failed look-up. */
export const MARKER_KEY = "moteVersion";
export const MARKER_VALUE = `mote ${VERSION}`;
