import { setTimeout as wait } from "node:timers/promises";
import { eventLine } from "../../hosts/device/event-lines.js";
import { calledAs } from "../cli/invocation.js";
import { cell, clip, plain } from "../cli/output/table.js";
import { Operator } from "../operator/operator.js";
import type { Reading } from "../operator/shapes.js";
import { CUSTOMER, hints, TENANT } from "./hints.js";
import type { ChildEvent } from "./processes.js";
import { prepare } from "./run-tour.js";
import { images, type Setup } from "./setup.js";

const SUMMARY_MS = 30_000;
const LONGEST_LINE = 200;

/** Prints the device's events as lines, as `mote run` does. */
export class EventLines {
  readonly #write: (text: string) => unknown;
  delivered = 0;

  constructor(write: (text: string) => unknown) {
    this.#write = write;
  }

  /** Prints only the first delivery; the summary counts the others. */
  show(event: ChildEvent): void {
    const isDelivery = event.event === "telemetry.delivered";
    if (isDelivery) this.delivered += Number(event.points);
    if (!isDelivery || this.delivered === event.points)
      this.print([clip(plain(eventLine(event)), LONGEST_LINE)]);
  }

  print(lines: readonly string[]): void {
    this.#write(lines.map((line) => `${line}\n`).join(""));
  }
}

/** The first lines of `mote start`. */
export function greeting({ url, env, folder }: Setup): string[] {
  return [
    `platform ${url}`,
    `logins   ${TENANT.username} / ${TENANT.password}, ${CUSTOMER.username} / ${CUSTOMER.password}`,
    `console  ${url}/ in a browser; log in as ${TENANT.username}, password ${TENANT.password}`,
    `devices  provisioning key ${env.MOTE_PROVISION_KEY}, secret ${env.MOTE_PROVISION_SECRET}`,
    ...(folder === undefined ? [] : [`state    ${folder}; delete it to begin again`]),
    "Press Ctrl-C to stop.",
  ];
}

/** Prints commands to try, once the device exists. Ends silently on `signal`. */
export async function printHints(setup: Setup, lines: EventLines, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const isReady = await prepare(setup);
      if (isReady && !signal.aborted)
        return lines.print(["", ...hints(calledAs(), setup.deviceName, images.next), ""]);
    } catch (error) {
      if (signal.aborted) return;
      return lines.print([
        `no hints: ${error instanceof Error ? error.message : "the platform does not answer"}`,
      ]);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Prints the number of delivered points and the latest values every 30 s, until `signal`. */
export async function printSummaries(setup: Setup, lines: EventLines, signal: AbortSignal): Promise<void> {
  const operator = new Operator({ url: setup.url });
  while (!signal.aborted) {
    try {
      await wait(SUMMARY_MS, undefined, { signal });
      await operator.login(TENANT.username, TENANT.password);
      const id = (await operator.devices.byName(setup.deviceName))?.id.id;
      const readings = id === undefined ? {} : await operator.timeSeries.latest(id);
      lines.print([plain(`delivered ${lines.delivered} points: ${valuesOf(readings)}`)]);
    } catch {
      // The platform may be starting or stopping.
    }
  }
}

/** The application's values: without firmware state and Mote's own keys. */
const OWN_KEY = /^(?:current_fw_|fw_|target_fw_|mote)/;
const valuesOf = (readings: Readonly<Record<string, Reading>>): string =>
  Object.entries(readings)
    .flatMap(([key, { value }]) => (OWN_KEY.test(key) ? [] : [`${key} ${cell(value)}`]))
    .join(", ");
