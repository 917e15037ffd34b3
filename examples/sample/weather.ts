import type { AppHost } from "../../hosts/device/application.js";

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
  private readonly _host: Pick<AppHost, "random">;
  private readonly _chance = new Uint8Array(3);
  private _temperature = 21;
  private _humidity = 45;
  private _pressure = 1013;

  constructor(host: Pick<AppHost, "random">) {
    this._host = host;
  }

  next(): Weather {
    this._host.random(this._chance);
    this._temperature = wander(this._temperature, this._chance[0], 0.2, 15, 30);
    this._humidity = wander(this._humidity, this._chance[1], 0.5, 20, 80);
    this._pressure = wander(this._pressure, this._chance[2], 0.3, 980, 1040);
    return {
      temperature: round(this._temperature, 100),
      humidity: round(this._humidity, 10),
      pressure: round(this._pressure, 10),
    };
  }
}

const wander = (
  value: number,
  chance: number | undefined,
  step: number,
  least: number,
  most: number,
): number => {
  const next = value + (((chance ?? 0) - 127.5) / 127.5) * step;
  return Math.min(most, Math.max(least, next));
};

const round = (value: number, parts: number): number => {
  return Math.round(value * parts) / parts;
};
