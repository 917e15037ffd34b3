import { calledAs } from "../cli/invocation.js";
import { clip, plain } from "../cli/output/table.js";
import { Operator } from "../operator/operator.js";
import type { Reading } from "../operator/shapes.js";
import { DEFAULT_VIEW } from "../platform/core/reports/table-views.js";
import { CUSTOMER, hints, TENANT } from "./hints.js";
import { apply, freshModel, type Model } from "./model.js";
import type { ChildEvent } from "./processes.js";
import { prepare } from "./run-tour.js";
import { Screen } from "./screen.js";
import { images, type Setup } from "./setup.js";
import { render, summary } from "./view.js";

/** Time between two summaries in a pipe, and between two redraws on a terminal. */
const SUMMARY_MS = 10_000;
const TICK_MS = 1_000;

export interface Live {
  onEvent(event: ChildEvent): void;
  /** The latest telemetry, by key. */
  onValues(values: Readonly<Record<string, unknown>>): void;
  /** Prints lasting lines. */
  print(lines: readonly string[]): void;
  close(): void;
}

/** Opens the live view: redrawn in place on a terminal, plain lines elsewhere. */
export function openLive(output: NodeJS.WriteStream, url: string, deviceName: string): Live {
  let model: Model = freshModel(url, deviceName);
  if (!output.isTTY) return openLines(output, model);
  const time = {
    now: () => Date.now(),
    later: (ms: number, due: () => void) => {
      const timer = setTimeout(due, ms);
      return () => clearTimeout(timer);
    },
  };
  const screen = new Screen(output, time, (columns) => ["", ...render(model, Date.now(), columns)]);
  const tick = setInterval(() => screen.refresh(), TICK_MS);
  const redraw = (): void => screen.refresh();
  output.on("resize", redraw);
  screen.refresh();
  return {
    onEvent(event) {
      model = apply(model, event, Date.now());
      screen.refresh();
    },
    onValues(values) {
      model = { ...model, values };
    },
    print: (lines) => screen.print(lines),
    close() {
      clearInterval(tick);
      output.off("resize", redraw);
      screen.close();
    },
  };
}

function openLines(output: NodeJS.WriteStream, first: Model): Live {
  let model = first;
  let shown = "";
  const say = (): void => {
    const line = summary(model);
    if (line !== shown) output.write(`${line}\n`);
    shown = line;
  };
  const timer = setInterval(say, SUMMARY_MS);
  return {
    onEvent(event) {
      const before = model.delivered;
      model = apply(model, event, Date.now());
      // Print only the first delivery; the summary counts the others.
      if (event.event === "telemetry.delivered" && before > 0) return;
      const { event: name, ts: _, ...members } = event;
      output.write(`${clip(plain(`${name} ${JSON.stringify(members)}`), 200)}\n`);
    },
    onValues(values) {
      model = { ...model, values };
    },
    print: (lines) => output.write(lines.map((line) => `${line}\n`).join("")),
    close() {
      clearInterval(timer);
      say();
    },
  };
}

/** The first lines of `mote start`. */
export function greeting(url: string): string[] {
  return [
    `platform ${url}`,
    `logins   ${TENANT.username} / ${TENANT.password}, ${CUSTOMER.username} / ${CUSTOMER.password}`,
    `console  ${url}/ in a browser; log in as ${TENANT.username}, password ${TENANT.password}`,
    `view     ${DEFAULT_VIEW.id} (${DEFAULT_VIEW.name}: mote report --view)`,
    "Press Ctrl-C to stop.",
  ];
}

/** Prints commands to try, once the device exists. Ends silently on `signal`. */
export async function printHints(setup: Setup, live: Live, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const isReady = await prepare(setup);
      if (isReady && !signal.aborted)
        return live.print(["", ...hints(calledAs(), setup.url, setup.deviceName, images.next)]);
    } catch (error) {
      if (signal.aborted) return;
      return live.print([
        `no hints: ${error instanceof Error ? error.message : "the platform does not answer"}`,
      ]);
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Reads the latest telemetry every second, until `signal`. Failures keep the last values. */
export async function followValues(setup: Setup, live: Live, signal: AbortSignal): Promise<void> {
  const operator = new Operator({ url: setup.url });
  let id: string | undefined;
  while (!signal.aborted) {
    try {
      if (id === undefined) {
        await operator.login(TENANT.username, TENANT.password);
        id = (await operator.devices.byName(setup.deviceName))?.id.id;
      }
      if (id !== undefined) live.onValues(valuesOf(await operator.timeSeries.latest(id)));
    } catch {
      // The platform may be starting or stopping.
    }
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

/** The application's values: without firmware state and Mote's own keys. */
const OWN_KEY = /^(?:current_fw_|fw_|target_fw_|mote)/;
const valuesOf = (readings: Readonly<Record<string, Reading>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(readings).flatMap(([key, { value }]) => (OWN_KEY.test(key) ? [] : [[key, value]])),
  );
