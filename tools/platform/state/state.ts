// The platform's state on disk: a file with one line of JSON for each change.
import { appendFileSync, closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { codeOf, makeDirectory, readIfThere, replaceFile } from "../../../hosts/node/files.js";
import { LockedError, StateLock } from "../../../hosts/node/state-lock.js";
import type { Scope } from "../core/attributes.js";
import type { DeviceRecord } from "../core/devices.js";
import type { Journal } from "../core/journal.js";
import type { PackageRecord } from "../core/ota/packages.js";
import type { PlatformCore } from "../core/platform.js";
import type { Profile } from "../core/profiles.js";
import type { PersistentRpcRecord } from "../core/rpc/rpc-records.js";
import { valueFromText } from "../core/value-text.js";
import { type Line, Stored } from "./stored.js";

/** The state cannot be opened, read or written; the message is for people. */
export class StateError extends Error {
  override name = "StateError";
  /** The existing file cannot be read as state. It was not changed. */
  readonly isDamaged: boolean;

  constructor(message: string, options: ErrorOptions & { isDamaged?: boolean } = {}) {
    super(message, options);
    this.isDamaged = options.isDamaged === true;
  }
}

export const FILE = "platform.ndjson";
const HEAD = '{"mote-platform":2}';
const NEW_LINE = 10;
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk is full",
  EROFS: "it is read-only",
};

export interface StateOptions {
  readonly directory: string;
  /** Called once, when a change could not be stored. */
  readonly onLost: (error: StateError) => void;
}

/**
 * Appends each change before its answer is sent, so that a killed process loses none. A power loss
 * may lose the last seconds. The next start writes the file anew, without replaced lines.
 */
export class State implements Journal {
  readonly #path: string;
  readonly #lock: StateLock;
  readonly #options: StateOptions;
  readonly #settings: ReadonlyMap<string, unknown>;
  /** What the file held, until it is restored. */
  #stored: Stored | undefined;
  /** Undefined before `restore`, after `close`, and once a change was lost. */
  #file: number | undefined;

  /** Locks the directory until `close` or the end of this process. Throws StateError. */
  constructor(options: StateOptions) {
    this.#options = options;
    this.#path = join(options.directory, FILE);
    this.#lock = lockDirectory(options.directory);
    try {
      this.#stored = this.#read();
      this.#settings = new Map(this.#stored.below("setting"));
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  /** The core needs them when it begins. */
  get profiles(): Profile[] {
    return recordsOf(this.#stored!, "profile") as Profile[];
  }

  /** Brings the rest back. Changes are stored from here on. Throws StateError. */
  restore(core: PlatformCore): void {
    const stored = this.#stored!;
    try {
      restoreRecords(stored, core);
    } catch (error) {
      throw error instanceof StateError ? error : unreadable(messageOf(error));
    }
    for (const profile of core.profiles.list()) stored.take([["profile", profile.id, "record"], profile]);
    try {
      const lines = [HEAD, ...[...stored.lines()].map((line) => JSON.stringify(line)), ""];
      replaceFile(this.#path, Buffer.from(lines.join("\n")));
      this.#file = openSync(this.#path, "a");
    } catch (error) {
      throw this.#unwritable(error);
    }
    this.#stored = undefined;
    core.resume();
  }

  setting(name: string): unknown {
    return this.#settings.get(name);
  }

  put(path: readonly string[], value: unknown): void {
    this.#append(value === undefined ? [path] : [path, value]);
  }

  close(): void {
    if (this.#file !== undefined) closeSync(this.#file);
    this.#file = undefined;
    this.#lock.release();
  }

  #append(line: Line): void {
    if (this.#file === undefined) return;
    try {
      appendFileSync(this.#file, `${JSON.stringify(line)}\n`);
    } catch (error) {
      closeSync(this.#file);
      this.#file = undefined;
      this.#options.onLost(this.#unwritable(error));
    }
  }

  /** A line that a killed process left incomplete is not part of it. */
  #read(): Stored {
    const stored = new Stored();
    let bytes: Buffer | undefined;
    try {
      bytes = readIfThere(this.#path);
    } catch (error) {
      throw new StateError(`${this.#path} cannot be opened (${codeOf(error)})`, { cause: error });
    }
    if (bytes === undefined) return stored;
    try {
      let isHead = true;
      for (let at = 0, end = bytes.indexOf(NEW_LINE); end >= 0; end = bytes.indexOf(NEW_LINE, at)) {
        const text = bytes.toString("utf8", at, end);
        at = end + 1;
        if (!isHead) stored.take(JSON.parse(text) as Line);
        else if (text !== HEAD) break;
        isHead = false;
      }
      if (!isHead) return stored;
    } catch (error) {
      throw unreadable(messageOf(error));
    }
    throw unreadable("another program or another version of Mote wrote it");
  }

  #unwritable(error: unknown): StateError {
    const why = REASONS[codeOf(error)] ?? codeOf(error);
    return new StateError(`the state in ${this.#options.directory} can't be written: ${why}`, {
      cause: error,
    });
  }
}

function lockDirectory(directory: string): StateLock {
  try {
    makeDirectory(directory);
    return StateLock.ofHost(directory);
  } catch (error) {
    const why =
      error instanceof LockedError ? error.message : `cannot store state in ${directory} (${codeOf(error)})`;
    throw new StateError(why, { cause: error });
  }
}

const recordsOf = (stored: Stored, kind: string): unknown[] =>
  stored.below(kind).flatMap(([id]) => stored.get(kind, id, "record") ?? []);

function restoreRecords(stored: Stored, core: PlatformCore): void {
  for (const record of recordsOf(stored, "package") as PackageRecord[]) {
    const file = stored.get("package", record.id, "file") as string | undefined;
    if (!core.packages.restore(record, file === undefined ? undefined : Buffer.from(file, "base64")))
      throw unreadable(`the file of package ${record.title} ${record.version} does not match its checksum`);
  }
  for (const record of recordsOf(stored, "device") as DeviceRecord[]) {
    const { id, attributes, series } = core.devices.restore(record);
    for (const [scope] of stored.below("device", id, "attribute"))
      for (const [key, held] of stored.below("device", id, "attribute", scope)) {
        const [ts, value] = held as [number, string];
        attributes.set(scope as Scope, key, valueFromText(value), ts);
      }
    for (const [key] of stored.below("device", id, "point"))
      for (const [ts, value] of stored.below("device", id, "point", key))
        series.save(key, Number(ts), valueFromText(value as string));
  }
  for (const rpc of recordsOf(stored, "rpc") as PersistentRpcRecord[]) {
    const device = core.devices.get(rpc.deviceId);
    if (device) core.rpcRecords.restore(rpc, device);
  }
}

function unreadable(why: string): StateError {
  return new StateError(
    `${FILE} is unreadable (${why}): put a copy in its place, or move it away to begin without state`,
    { isDamaged: true },
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : "unknown");
