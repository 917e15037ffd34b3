// `mote/commission` for an application's TypeScript.
import type { Extra } from "../types.js";

/**
 * Extra for `start` of `mote/board`: the owner enters missing settings on a page, or the Wi-Fi over
 * USB.
 */
export declare const commission: Extra;
