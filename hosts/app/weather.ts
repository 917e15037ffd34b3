import type { Host } from "../../src/port.js";

export interface Weather {
  /** °C */
  temperature: number;
  /** % */
  humidity: number;
  /** hPa */
  pressure: number;
}

/** Readings of a room that does not exist: each wanders a little from the one before, within its limits. */
export class Room {
  readonly #host: Pick<Host, "random">;
  readonly #chance = new Uint8Array(3);
  #temperature = 21;
  #humidity = 45;
  #pressure = 1013;

  constructor(host: Pick<Host, "random">) {
    this.#host = host;
  }

  next(): Weather {
    this.#host.random(this.#chance);
    this.#temperature = wander(this.#temperature, this.#chance[0], 0.2, 15, 30);
    this.#humidity = wander(this.#humidity, this.#chance[1], 0.5, 20, 80);
    this.#pressure = wander(this.#pressure, this.#chance[2], 0.3, 980, 1040);
    return {
      temperature: round(this.#temperature, 100),
      humidity: round(this.#humidity, 10),
      pressure: round(this.#pressure, 10),
    };
  }
}

function wander(
  value: number,
  chance: number | undefined,
  step: number,
  least: number,
  most: number,
): number {
  const next = value + (((chance ?? 0) - 127.5) / 127.5) * step;
  return Math.min(most, Math.max(least, next));
}

function round(value: number, parts: number): number {
  return Math.round(value * parts) / parts;
}
