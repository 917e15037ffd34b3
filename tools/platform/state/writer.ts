import type { Database, Statement } from "libsql";
import type { Kind } from "../core/journal.js";
import type { Value } from "../core/values.js";
import { valueToText } from "./value-text.js";

/** Statements that change the tables of database.ts. Each throws what SQLite throws. */
export class Writer {
  readonly #database: Database;
  readonly #statements = new Map<string, Statement>();
  /** Ids of series that were used before, by device and key. */
  readonly #series = new Map<string, number>();

  constructor(database: Database) {
    this.#database = database;
  }

  setting(name: string): string | undefined {
    const row = this.#sql("SELECT value FROM setting WHERE name = ?").get(name) as
      | { value: string }
      | undefined;
    return row?.value;
  }

  saveSetting(name: string, value: string): void {
    this.#sql("INSERT OR REPLACE INTO setting VALUES (?, ?)").run(name, value);
  }

  /** A record keeps its place among the others. */
  save(kind: Kind, id: string, json: string): void {
    this.#sql(
      "INSERT INTO record (kind, id, json) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET json = excluded.json",
    ).run(kind, id, json);
  }

  remove(kind: Kind, id: string): void {
    this.#sql("DELETE FROM record WHERE kind = ? AND id = ?").run(kind, id);
    if (kind === "package") this.#sql("DELETE FROM file WHERE package = ?").run(id);
    if (kind !== "device") return;
    this.#sql("DELETE FROM attribute WHERE device = ?").run(id);
    this.#sql("DELETE FROM point WHERE series IN (SELECT id FROM series WHERE device = ?)").run(id);
    this.#sql("DELETE FROM series WHERE device = ?").run(id);
    for (const name of [...this.#series.keys()]) if (name.startsWith(`${id} `)) this.#series.delete(name);
  }

  file(packageId: string, bytes: Uint8Array): void {
    this.#sql("INSERT OR REPLACE INTO file VALUES (?, ?)").run(packageId, bytes);
  }

  attribute(
    deviceId: string,
    scope: string,
    key: string,
    attribute: { readonly value: Value; readonly ts: number } | undefined,
  ): void {
    if (attribute === undefined)
      this.#sql("DELETE FROM attribute WHERE device = ? AND scope = ? AND key = ?").run(deviceId, scope, key);
    else
      this.#sql("INSERT OR REPLACE INTO attribute VALUES (?, ?, ?, ?, ?)").run(
        deviceId,
        scope,
        key,
        attribute.ts,
        valueToText(attribute.value),
      );
  }

  point(deviceId: string, key: string, ts: number, value: Value): void {
    this.#sql("INSERT OR REPLACE INTO point VALUES (?, ?, ?)").run(
      this.#seriesId(deviceId, key),
      ts,
      valueToText(value),
    );
  }

  pointsGone(deviceId: string, key: string, startTs: number, endTs: number): void {
    this.#sql("DELETE FROM point WHERE series = ? AND ts >= ? AND ts < ?").run(
      this.#seriesId(deviceId, key),
      startTs,
      endTs,
    );
  }

  #seriesId(deviceId: string, key: string): number {
    const name = `${deviceId} ${key}`;
    const known = this.#series.get(name);
    if (known !== undefined) return known;
    this.#sql("INSERT OR IGNORE INTO series (device, key) VALUES (?, ?)").run(deviceId, key);
    const { id } = this.#sql("SELECT id FROM series WHERE device = ? AND key = ?").get(deviceId, key) as {
      id: number;
    };
    this.#series.set(name, id);
    return id;
  }

  #sql(text: string): Statement {
    const known = this.#statements.get(text);
    if (known) return known;
    const statement = this.#database.prepare(text);
    this.#statements.set(text, statement);
    return statement;
  }
}
