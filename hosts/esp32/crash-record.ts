import type { Host, LastRun, Store } from "../../src/port.js";

export const BROWNOUT = "brownout";
/** ESP-IDF's esp_reset_reason_t, by number. */
export const RESET_REASONS: readonly string[] = [
  "unknown",
  "power on",
  "reset pin",
  "software",
  "panic",
  "interrupt watchdog",
  "task watchdog",
  "watchdog",
  "deep sleep",
  BROWNOUT,
  "SDIO",
  "USB",
  "JTAG",
  "efuse",
  "power glitch",
  "CPU lockup",
];

/** The numbers of the reasons that LastRun distinguishes. */
export const RESET = { powerOn: 1, software: 3, deepSleep: 8 } as const;

/** Reasons caused by the program. */
const FAULTS = ["panic", "interrupt watchdog", "task watchdog", "watchdog", "CPU lockup"];

const KEY = "ended";
/** First byte of the record: how the run ended. */
const CRASHED = 1;
const RESTARTED = 2;
const LONGEST = 200;
/** The engine's memory was full: written by native/memory.c, which needs none of it. */
export const FULL = "memory full";

type Ending = Pick<LastRun, "reset" | "crash">;

/**
 * Stores the engine's message before it aborts, because the next start cannot know it otherwise.
 * Requested restarts are stored too, because they look the same to the chip.
 */
export class CrashRecord {
  private readonly _store: Store;
  private readonly _text: Pick<Host, "encode" | "decode">;
  private _hasCrashed = false;

  constructor(store: Store, text: Pick<Host, "encode" | "decode">) {
    this._store = store;
    this._text = text;
  }

  /** Reads and clears the record; call once, at the start. `reset`: ESP-IDF's number. */
  ending(reset: number): Ending {
    const name = RESET_REASONS[reset] ?? "unknown";
    const record = this._store.get(KEY);
    if (record) this._store.delete(KEY);
    const asked = record?.[0] === RESTARTED;
    const words = record?.[0] === CRASHED ? this._text.decode(record.subarray(1)) : undefined;
    if (FAULTS.includes(name)) return { reset: name, crash: words ? `${name}: ${words}` : name };
    // The power may have failed between the crash and this start.
    return { reset: name, crash: words ?? (reset === RESET.software && !asked ? "unknown" : false) };
  }

  /**
   * `globalThis.abort` of the engine: its message and the exception, if there is one. Must not
   * throw.
   */
  crashed(status: unknown, exception: unknown, clean?: (text: string) => string): void {
    // Keep the first cause, because later ones follow from it.
    if (this._hasCrashed) return;
    this._hasCrashed = true;
    try {
      this._save(CRASHED, describe(status, exception, clean));
    } catch {}
  }

  /** Before a requested restart. */
  restarting(): void {
    this._save(RESTARTED, "");
  }

  private _save(kind: number, words: string): void {
    const text = this._text.encode(words);
    const record = new Uint8Array(1 + text.length);
    record[0] = kind;
    record.set(text, 1);
    this._store.set(KEY, record);
  }
}

/**
 * The engine's message, the exception's, and its stack (function names only in a release build). At
 * most 200 characters.
 */
export const describe = (
  status: unknown,
  exception: unknown,
  clean: (text: string) => string = (text) => text,
): string => {
  const said = typeof status === "string" ? status : "abort";
  if (!(exception instanceof Error)) return clean(said).slice(0, LONGEST);
  const where = String(exception.stack ?? "")
    .split("\n")
    .slice(1, 5)
    .map((line) => line.trim())
    .join(", ");
  return clean(`${said}: ${exception.name}: ${exception.message}; ${where}`).slice(0, LONGEST);
};
