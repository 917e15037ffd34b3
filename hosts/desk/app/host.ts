import type { Host } from "../../../src/port.js";

/** What an image is given by the Node host: the agent's host and the settings of `mote run`. */
export type ImageHost = Host & { readonly settings?: { readonly intervalMs?: number } };
