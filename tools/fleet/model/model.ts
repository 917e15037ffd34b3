// What a server sees of a fleet: device after device, each with chances of its own, added up second by second.
import type { Host } from "../../../src/port.js";
import { DeviceModel } from "./device.js";
import type { DeviceConfig } from "./device-config.js";
import { Load } from "./load.js";

export interface FleetConfig extends DeviceConfig {
  readonly devices: number;
  /** All have started after so long. */
  readonly rampMs: number;
  readonly forMs: number;
  readonly seed: number;
}

export function modelFleet(config: FleetConfig, chances = chancesOf(config.seed)): Load {
  const load = new Load(Math.ceil(config.forMs / 1000));
  for (let number = 0; number < config.devices; number++) {
    const { startMs, host } = chances(number, config.rampMs);
    new DeviceModel(config, load, host, startMs).run(config.forMs);
  }
  return load;
}

export interface Chances {
  readonly startMs: number;
  readonly host: Pick<Host, "random">;
}

/** The same for the same seed: a figure can be made again. */
export const chancesOf =
  (seed: number) =>
  (number: number, rampMs: number): Chances => {
    const random = quickRandom(Math.imul(seed, 0x85ebca6b) + number);
    const dice = new Uint8Array(4);
    random(dice);
    const share = new DataView(dice.buffer).getUint32(0) / 2 ** 32;
    return { startMs: Math.floor(share * rampMs), host: { random } };
  };

/** xorshift32 after a mixed seed: for chances, not for secrets. */
function quickRandom(seed: number): Host["random"] {
  let state = Math.imul(seed + 1, 0x9e3779b1) | 1;
  return (into) => {
    for (let at = 0; at < into.length; at++) {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      into[at] = state >>> 24;
    }
  };
}
