import type { Host, LastRun, Store } from "../../src/port.js";

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
  "brownout",
  "SDIO",
  "USB",
  "JTAG",
  "efuse",
  "power glitch",
  "CPU lockup",
];

/** Those that are the program's fault. */
const FAULTS = ["panic", "interrupt watchdog", "task watchdog", "watchdog", "CPU lockup"];

const KEY = "ended";
/** First byte of the record: how the run ended. */
const CRASHED = 1;
const RESTARTED = 2;
const LONGEST = 200;
/** As the engine says it. */
const FULL = "memory full";
/** What keeping a text takes. */
const RESERVE = { objects: 24, bytes: 400 };

type Ending = Pick<LastRun, "reset" | "crash">;

/**
 * Keeps what the engine said before it gave up: at the next start nothing else would know. A restart that was asked for is noted too,
 * because both look the same to the chip.
 */
export class LastWords {
  private readonly _store: Store;
  private readonly _text: Pick<Host, "encode" | "decode">;
  /** Memory to be had when there is none left; undefined once it crashed. */
  private _reserve: unknown[] | undefined;

  constructor(store: Store, text: Pick<Host, "encode" | "decode">) {
    this._store = store;
    this._text = text;
    this._reserve = [new ArrayBuffer(RESERVE.bytes), ...Array.from({ length: RESERVE.objects }, () => ({}))];
  }

  /**
   * To be called once, at the start: what was kept is forgotten. `reset` is ESP-IDF's number. `wasFull`: that run restarted without memory, perhaps without
   * enough to say so.
   */
  ending(reset: number, wasFull = false): Ending {
    const name = RESET_REASONS[reset] ?? "unknown";
    const record = this._store.get(KEY);
    if (record) this._store.delete(KEY);
    const asked = record?.[0] === RESTARTED;
    const words = record?.[0] === CRASHED ? this._text.decode(record.subarray(1)) : undefined;
    if (FAULTS.includes(name)) return { reset: name, crash: words ? `${name}: ${words}` : name };
    // What is left of an earlier run is no cause of a power loss.
    if (name !== "software" || asked) return { reset: name, crash: false };
    return { reset: name, crash: words ?? (wasFull ? FULL : "unknown") };
  }

  /** `globalThis.abort` of the engine: what it says, and the exception, if there is one. Must not throw. */
  crashed(status: unknown, exception: unknown): void {
    // The first cause is the one: what goes wrong afterwards comes of it.
    if (!this._reserve) return;
    this._reserve = undefined;
    try {
      this._keep(CRASHED, describe(status, exception));
    } catch {}
  }

  /** Before a restart that was asked for. */
  restarting(): void {
    this._keep(RESTARTED, "");
  }

  private _keep(kind: number, words: string): void {
    const text = this._text.encode(words);
    const record = new Uint8Array(1 + text.length);
    record[0] = kind;
    record.set(text, 1);
    this._store.set(KEY, record);
  }
}

/** The engine's words, the exception's, and the functions it came through: in a release without lines. 200 characters at most. */
export const describe = (status: unknown, exception: unknown): string => {
  const said = typeof status === "string" ? status : "abort";
  if (!(exception instanceof Error)) return said.slice(0, LONGEST);
  const where = String(exception.stack ?? "")
    .split("\n")
    .slice(1, 5)
    .map((line) => line.trim())
    .join(", ");
  return `${said}: ${exception.name}: ${exception.message}; ${where}`.slice(0, LONGEST);
};
