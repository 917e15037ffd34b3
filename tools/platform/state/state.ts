import type { Database } from "libsql";
import type { Journal, Kind } from "../core/journal.js";
import type { Value } from "../core/values.js";
import { type Opened, openDatabase, type StateError, stateError } from "./database.js";
import { Writer } from "./writer.js";

export interface StateOptions {
  readonly directory: string;
  /** The file grows to so many pages at most: a full disk, for tests. */
  readonly mostPages?: number;
  /**
   * Called once, when a change could not be kept: from then on nothing is, and no answer goes out
   * any more.
   */
  readonly onLost: (error: StateError) => void;
}

/**
 * The platform's state on disk. Changes are gathered for one turn of the event loop and written in
 * one transaction, which is synced before any answer of that turn goes out: so nobody heard of what
 * a crash takes back, and a thousand devices cost a few syncs, not a thousand.
 */
export class State implements Journal {
  readonly database: Database;
  readonly #closeDatabase: () => void;
  readonly #directory: string;
  readonly #writer: Writer;
  readonly #onLost: (error: StateError) => void;
  /** Records to be written as they are then. */
  readonly #records = new Map<string, () => void>();
  #changes: (() => void)[] = [];
  #waiting: (() => void)[] = [];
  #isQuiet = false;
  #scheduled: NodeJS.Immediate | undefined;
  #lost = false;

  /** Throws StateError. */
  static async open(options: StateOptions): Promise<State> {
    return new State(await openDatabase(options.directory, options.mostPages), options);
  }

  private constructor({ database, close }: Opened, { directory, onLost }: StateOptions) {
    this.database = database;
    this.#closeDatabase = close;
    this.#directory = directory;
    this.#onLost = onLost;
    this.#writer = new Writer(database);
  }

  /** Runs what brings back what is on the disk already. */
  quietly(run: () => void): void {
    this.#isQuiet = true;
    try {
      run();
    } finally {
      this.#isQuiet = false;
    }
  }

  /** Runs it when all that was changed until now is on the disk; never, if that fails. */
  whenKept(run: () => void): void {
    if (this.#lost) return;
    if (this.#scheduled === undefined) run();
    else this.#waiting.push(run);
  }

  setting(name: string): string | undefined {
    return this.#writer.setting(name);
  }

  saveSetting(name: string, value: string): void {
    this.#change(() => this.#writer.saveSetting(name, value));
  }

  save(kind: Kind, id: string, read: () => object): void {
    this.#records.set(`${kind} ${id}`, () => this.#writer.save(kind, id, JSON.stringify(read())));
    this.#schedule();
  }

  remove(kind: Kind, id: string): void {
    this.#records.delete(`${kind} ${id}`);
    this.#change(() => this.#writer.remove(kind, id));
  }

  attribute(
    deviceId: string,
    scope: string,
    key: string,
    attribute: { readonly value: Value; readonly ts: number } | undefined,
  ): void {
    this.#change(() => this.#writer.attribute(deviceId, scope, key, attribute));
  }

  point(deviceId: string, key: string, ts: number, value: Value): void {
    this.#change(() => this.#writer.point(deviceId, key, ts, value));
  }

  pointsGone(deviceId: string, key: string, startTs: number, endTs: number): void {
    this.#change(() => this.#writer.pointsGone(deviceId, key, startTs, endTs));
  }

  file(packageId: string, bytes: Uint8Array): void {
    this.#change(() => this.#writer.file(packageId, bytes));
  }

  /** Keeps what was changed last, and lets go of the file. */
  close(): void {
    this.#commit();
    this.#lost = true;
    this.#closeDatabase();
  }

  #change(write: () => void): void {
    if (this.#isQuiet) return;
    this.#changes.push(write);
    this.#schedule();
  }

  #schedule(): void {
    this.#scheduled ??= setImmediate(() => this.#commit());
  }

  #commit(): void {
    clearImmediate(this.#scheduled);
    this.#scheduled = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (this.#lost) return;
    const writes = [...this.#changes, ...this.#records.values()];
    this.#changes = [];
    this.#records.clear();
    try {
      if (writes.length > 0) this.#write(writes);
    } catch (error) {
      this.#lost = true;
      this.#onLost(stateError(error, this.#directory));
      return;
    }
    for (const run of waiting) run();
  }

  #write(writes: readonly (() => void)[]): void {
    this.database.exec("BEGIN");
    try {
      for (const write of writes) write();
      this.database.exec("COMMIT");
    } catch (error) {
      // A full disk has rolled it back already.
      if (this.database.inTransaction) this.database.exec("ROLLBACK");
      throw error;
    }
  }
}
