// When a device's points leave, and how many at once: a batch leaves when its oldest point is old enough, or it is full.
import { FRAME_BYTES } from "../../../src/wire/telemetry.js";
import type { DeviceConfig } from "./device-config.js";
import type { Uplink } from "./uplink.js";

export class Points {
  /** When the next batch leaves. */
  dueAt = 0;
  readonly #config: DeviceConfig;
  readonly #uplink: Uplink;
  readonly #startMs: number;
  /** So many go in one request. */
  readonly #most: number;
  /** The number of the first point that waits. */
  #first = 0;
  #oldestAt: number;
  #freeAt = 0;
  /** Points below it leave at once. */
  #hurried = 0;

  constructor(config: DeviceConfig, uplink: Uplink, startMs: number) {
    this.#config = config;
    this.#uplink = uplink;
    this.#startMs = startMs;
    const { batchBytes, batchPoints, pointBytes } = config;
    this.#most = Math.max(1, Math.min(batchPoints, Math.floor(batchBytes / (pointBytes + FRAME_BYTES))));
    this.#oldestAt = startMs;
    this.#setDue();
  }

  send(at: number): void {
    const points = Math.min(this.#most, this.#recordedBy(at) - this.#first);
    // With its first points a device reports its firmware's version.
    const sent = this.#first === 0 ? points + 1 : points;
    const doneAt = this.#uplink.exchange(at, this.#config.sizes.telemetry(sent), sent);
    this.#first += points;
    this.#freeAt = doneAt;
    this.#oldestAt = this.#recordedBy(doneAt) > this.#first ? at : this.#timeOf(this.#first);
    this.#setDue();
  }

  /** What waits leaves without waiting for more. */
  flush(at: number): void {
    this.#hurried = this.#recordedBy(at);
    this.#setDue(at);
  }

  /** So many of those that left last are to leave again. */
  lost(points: number): void {
    this.#first = Math.max(0, this.#first - points);
  }

  /** Nothing leaves before. */
  notBefore(at: number): void {
    this.#freeAt = Math.max(this.#freeAt, at);
    this.#setDue();
  }

  #setDue(from = 0): void {
    const isHurried = this.#first < this.#hurried;
    const fullAt = this.#timeOf(this.#first + this.#most - 1);
    const due = Math.min(this.#oldestAt + this.#config.batchAgeMs, fullAt);
    this.dueAt = Math.max(this.#freeAt, from, isHurried ? 0 : due);
  }

  #recordedBy(at: number): number {
    return Math.max(0, Math.floor((at - this.#startMs) / this.#config.intervalMs) + 1);
  }

  #timeOf(number: number): number {
    return this.#startMs + number * this.#config.intervalMs;
  }
}
