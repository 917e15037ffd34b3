// `mote/diagnostics` on a board: stores lines and the place of the last panic (native/log.c), in
// projects that include extras/diagnostics/manifest.json.
import { addDiagnostics, type LogHost, type LogMemory } from "../../../extras/diagnostics/index.js";
import type { LastRun } from "../../../src/port.js";
import type { AgentExtra } from "../../device/assemble.js";
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";

/** A host, and the diagnostics that store its lines, if any. */
export interface DiagnosedHost {
  readonly host: BoardHost;
  readonly diagnostics?: AgentExtra | undefined;
}

/**
 * Creates a host that stores its log lines. A project passes it to `start`. `createHost`: from
 * host.js.
 */
export type BoardDiagnostics = (
  machine: BoardHardware,
  createHost: (machine: BoardHardware) => BoardHost,
) => DiagnosedHost;

/** Functions by mc/ffi. */
export interface LogFunctions {
  mote_log_read(into: ArrayBuffer, at: number, length: number): void;
  mote_log_write(from: ArrayBuffer, at: number, length: number): void;
  /** A buffer of 8 bytes. */
  mote_log_build(into: ArrayBuffer): void;
  /**
   * 72 bytes: the build that panicked, and code addresses, 0 for none. Returns 0 without a panic.
   */
  mote_log_panic(into: ArrayBuffer): number;
}

/**
 * Stores lines from the creation of the host on. Without native/log.c, a restart loses them.
 */
const diagnose: BoardDiagnostics = (machine, createHost) => {
  const idf = machine.idf as BoardHardware["idf"] & Partial<LogFunctions>;
  const native = has(idf) ? idf : undefined;
  const early: Parameters<BoardHardware["log"]>[] = [];
  let storeLine: BoardHardware["log"] = (level, line) => void early.push([level, line]);
  const log: BoardHardware["log"] = (level, line) => {
    machine.log(level, line);
    storeLine(level, line);
  };
  const made = createHost({ ...machine, log });
  const place = native && placeOf(native);
  const quiet: BoardHost & LogHost = {
    ...made,
    log: machine.log,
    lastRun: { ...made.lastRun, place },
    ...(native && { logMemory: new RtcMemory(native) }),
  };
  const diagnostics = addDiagnostics(quiet, { build: native && buildOf(native) });
  const { host, log: kept } = diagnostics;
  for (const [level, line] of early) kept.store(level, line);
  early.length = 0;
  storeLine = (level, line) => kept.store(level, line);
  return { host, diagnostics };
};

/** Passed to `start` of `mote/board`. */
export const diagnostics: { readonly diagnostics: BoardDiagnostics } = { diagnostics: diagnose };

const has = (idf: Partial<LogFunctions>): idf is LogFunctions => idf.mote_log_read !== undefined;

const SIZE = 4096;
const BUILD = 8;
const PANIC = 72;

class RtcMemory implements LogMemory {
  readonly size = SIZE;
  private readonly _idf: LogFunctions;

  constructor(idf: LogFunctions) {
    this._idf = idf;
  }

  read(at: number, into: Uint8Array): boolean {
    const bytes = new Uint8Array(into.length);
    this._idf.mote_log_read(bytes.buffer, at, bytes.length);
    into.set(bytes);
    return true;
  }

  write(at: number, bytes: Uint8Array): boolean {
    this._idf.mote_log_write(bytes.slice().buffer, at, bytes.length);
    return true;
  }
}

/** Compared with the ELF file by `mote decode`. */
const buildOf = (idf: LogFunctions): string => {
  const bytes = new Uint8Array(BUILD);
  idf.mote_log_build(bytes.buffer);
  return hexOf(bytes);
};

/** The place of the last run's panic, if it was stored. Call once. */
const placeOf = (idf: LogFunctions): LastRun["place"] => {
  const bytes = new Uint8Array(PANIC);
  if (idf.mote_log_panic(bytes.buffer) === 0) return undefined;
  const view = new DataView(bytes.buffer);
  let backtrace = "";
  for (let at = BUILD; at < PANIC; at += 4) {
    const place = view.getUint32(at, true);
    if (place !== 0) backtrace += `${backtrace && " "}0x${place.toString(16).padStart(8, "0")}`;
  }
  return { build: hexOf(bytes.subarray(0, BUILD)), backtrace };
};

const hexOf = (bytes: Uint8Array): string => {
  let text = "";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
};
