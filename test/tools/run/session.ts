import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hiding, Lines } from "../../../tools/run/lines.js";
import type { Event } from "../../../tools/run/messages.js";
import { type Outcome, type SuperviseOptions, supervise } from "../../../tools/run/supervisor.js";
import { configFor, STUB } from "./images.js";

interface Teardown {
  teardown(work: () => unknown): void;
}

export function temporaryState(t: Teardown): string {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-node-"));
  t.teardown(() => rmSync(stateDir, { recursive: true, force: true }));
  return stateDir;
}

const LOOK_MS = 50;

/** The events of lines as they come, and waiting for one. */
export class EventLog {
  readonly events: Event[] = [];
  #look: (() => void)[] = [];

  add(event: Event): void {
    this.events.push(event);
    for (const look of this.#look.splice(0)) look();
  }

  /** All events of this name so far. */
  named(name: string): Event[] {
    return this.events.filter(({ event }) => event === name);
  }

  /** The first event of this name, once it is there. */
  async first(name: string, ms?: number): Promise<Event> {
    await this.until(() => this.named(name).length > 0, ms);
    return this.named(name)[0]!;
  }

  /** Each start as "version state". */
  get starts(): string[] {
    return this.named("started").map((e) => `${e.version} ${e.state}`);
  }

  async until(ready: (eventLog: EventLog) => boolean, ms = 120_000): Promise<void> {
    const deadline = Date.now() + ms;
    while (!ready(this)) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`not within ${ms} ms: ${JSON.stringify(this.events)}`);
      await new Promise<void>((resolve) => {
        // What is waited for may be a file, which no event reports.
        const timer = setTimeout(resolve, Math.min(left, LOOK_MS));
        this.#look.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }
}

export interface Session {
  eventLog: EventLog;
  stop: () => Promise<Outcome>;
  ended: Promise<Outcome>;
}

/** A supervisor in this process, with the stub worker and short delays. */
export function session(
  t: Teardown,
  stateDir: string,
  app?: Buffer,
  more: Partial<SuperviseOptions> = {},
): Session {
  const eventLog = new EventLog();
  const output = {
    write: (line: string) => eventLog.add(JSON.parse(line)),
    on: () => {},
  };
  const stop = new AbortController();
  const ended = supervise({
    config: configFor(stateDir),
    app,
    lines: new Lines(output, "json", hiding(["token-of-a-test"])),
    stop: stop.signal,
    kill: new AbortController().signal,
    worker: STUB,
    delays: { first: 20, longest: 100 },
    ...more,
  });
  ended.catch(() => {});
  t.teardown(() => {
    stop.abort();
    return ended.catch(() => {});
  });
  return {
    eventLog,
    ended,
    stop() {
      stop.abort();
      return ended;
    },
  };
}
