import { calledAs } from "../cli/called-as.js";
import { clip, plain } from "../cli/output/table.js";
import { DEFAULT_VIEW } from "../platform/core/reports/table-views.js";
import { CUSTOMER, hints, TENANT } from "./hints.js";
import { apply, freshModel, type Model } from "./model.js";
import type { ChildEvent } from "./processes.js";
import { prepare } from "./run-tour.js";
import { Screen } from "./screen.js";
import { images, type Setup } from "./setup.js";
import { render, summary } from "./view.js";

/** Between two summaries where the output is no terminal, and between two pictures that differ only in "n s ago". */
const SUMMARY_MS = 10_000;
const TICK_MS = 1_000;

export interface Live {
  onEvent(event: ChildEvent): void;
  /** Lines that stay. */
  print(lines: readonly string[]): void;
  close(): void;
}

/** The live view: redrawn in place on a terminal, plain lines elsewhere. */
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
      // The first delivery is news; the others are in the summary.
      if (event.event === "telemetry.delivered" && before > 0) return;
      const { event: name, ts: _, ...members } = event;
      output.write(`${clip(plain(`${name} ${JSON.stringify(members)}`), 200)}\n`);
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
    `console  ${url}/ in a browser, with the first of these logins`,
    `view     ${DEFAULT_VIEW.id} (${DEFAULT_VIEW.name}: mote report --view)`,
    "Ctrl-C stops both processes.",
  ];
}

/** Once the device exists: what to try. Gives up silently when `signal` says so or the platform is gone. */
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
