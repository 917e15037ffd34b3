import type { Database, Statement } from "libsql";
import type { Journal, Kind } from "../core/journal.js";
import type { Value } from "../core/values.js";
import { type Opened, openDatabase, type StateError, stateError } from "./database.js";
import { valueToText } from "./value-text.js";

export interface StateOptions {
  readonly directory: string;
  /** Largest file, in pages: tests fill the disk with it. */
  readonly mostPages?: number;
  /** Called once, when a change could not be stored. After it, no answer goes out. */
  readonly onLost: (error: StateError) => void;
}

/**
 * The platform's state on disk. One transaction stores all changes of a turn of the event loop, and
 * is synced before any answer of that turn goes out: a crash never takes back an acknowledged
 * change.
 */
export class State implements Journal {
  readonly database: Database;
  readonly #closeDatabase: () => void;
  readonly #directory: string;
  readonly #statements = new Map<string, Statement>();
  /** Ids of used series by device and key. */
  readonly #series = new Map<string, number>();
  readonly #onLost: (error: StateError) => void;
  /** Records to write, as they are when the transaction begins. */
  readonly #records = new Map<string, () => unknown>();
  #changes: (() => unknown)[] = [];
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
  }

  /** Runs a restore: its changes are on the disk already. */
  quietly(run: () => void): void {
    this.#isQuiet = true;
    try {
      run();
    } finally {
      this.#isQuiet = false;
    }
  }

  /** Runs it once all earlier changes are on the disk; never, if storing them fails. */
  whenKept(run: () => void): void {
    if (this.#lost) return;
    if (this.#scheduled === undefined) run();
    else this.#waiting.push(run);
  }

  setting(name: string): string | undefined {
    const row = this.#sql("SELECT value FROM setting WHERE name = ?").get(name);
    return (row as { value: string } | undefined)?.value;
  }

  saveSetting(name: string, value: string): void {
    this.#run("INSERT OR REPLACE INTO setting VALUES (?, ?)", name, value);
  }

  /** A record keeps its place among the others. */
  save(kind: Kind, id: string, read: () => object): void {
    const sql =
      "INSERT INTO record (kind, id, json) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json";
    this.#records.set(`${kind} ${id}`, () => this.#sql(sql).run(kind, id, JSON.stringify(read())));
    this.#schedule();
  }

  remove(kind: Kind, id: string): void {
    this.#records.delete(`${kind} ${id}`);
    this.#run("DELETE FROM record WHERE kind = ? AND id = ?", kind, id);
    if (kind === "package") this.#run("DELETE FROM file WHERE package = ?", id);
    if (kind !== "device") return;
    this.#run("DELETE FROM attribute WHERE device = ?", id);
    this.#run("DELETE FROM point WHERE series IN (SELECT id FROM series WHERE device = ?)", id);
    this.#run("DELETE FROM series WHERE device = ?", id);
    this.#change(() => {
      for (const name of [...this.#series.keys()]) if (name.startsWith(`${id} `)) this.#series.delete(name);
    });
  }

  attribute(
    deviceId: string,
    scope: string,
    key: string,
    attribute: { readonly value: Value; readonly ts: number } | undefined,
  ): void {
    if (attribute === undefined)
      this.#run("DELETE FROM attribute WHERE device = ? AND scope = ? AND key = ?", deviceId, scope, key);
    else {
      const { ts, value } = attribute;
      const sql = "INSERT OR REPLACE INTO attribute VALUES (?, ?, ?, ?, ?)";
      this.#run(sql, deviceId, scope, key, ts, valueToText(value));
    }
  }

  point(deviceId: string, key: string, ts: number, value: Value): void {
    const sql = "INSERT OR REPLACE INTO point VALUES (?, ?, ?)";
    this.#change(() => this.#sql(sql).run(this.#seriesId(deviceId, key), ts, valueToText(value)));
  }

  pointsGone(deviceId: string, key: string, startTs: number, endTs: number): void {
    const sql = "DELETE FROM point WHERE series = ? AND ts >= ? AND ts < ?";
    this.#change(() => this.#sql(sql).run(this.#seriesId(deviceId, key), startTs, endTs));
  }

  file(packageId: string, bytes: Uint8Array): void {
    this.#run("INSERT OR REPLACE INTO file VALUES (?, ?)", packageId, bytes);
  }

  /** Stores the last changes and closes the file. */
  close(): void {
    this.#commit();
    this.#lost = true;
    this.#closeDatabase();
  }

  #run(sql: string, ...values: unknown[]): void {
    this.#change(() => this.#sql(sql).run(...values));
  }

  #sql(text: string): Statement {
    const known = this.#statements.get(text) ?? this.database.prepare(text);
    this.#statements.set(text, known);
    return known;
  }

  #seriesId(deviceId: string, key: string): number {
    const name = `${deviceId} ${key}`;
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    this.#sql("INSERT OR IGNORE INTO series (device, key) VALUES (?, ?)").run(deviceId, key);
    const row = this.#sql("SELECT id FROM series WHERE device = ? AND key = ?").get(deviceId, key);
    const { id } = row as { id: number };
    this.#series.set(name, id);
    return id;
  }

  #change(write: () => unknown): void {
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

  #write(writes: readonly (() => unknown)[]): void {
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
