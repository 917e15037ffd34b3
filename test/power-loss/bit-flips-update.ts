// A bit of the update journal changes while the power is off, at every point of an update: the
// device must still come to the new image, and start nothing but whole images.

import { Power, PowerLossError } from "../fakes/power.js";
import type { Dice } from "../simulation/dice.js";
import { imageOf } from "../src/agent/firmware/machine.js";
import { Lamp } from "../src/agent/firmware/updates/lamp.js";
import type { Flipped } from "./bit-flips.js";

const JOURNAL = "firmware";
const IMAGE_BYTES = 20_000;
const PATIENCE_MS = 24 * 3_600_000;

function begin(): Lamp {
  const lamp = new Lamp({ connections: 2 });
  lamp.release("2.0.0", IMAGE_BYTES);
  lamp.machine.slots[1].bytes.set(imageOf("0.9.0", 30_000));
  return lamp;
}

/**
 * The update until the power goes at change `at`. Returns the lamp, or undefined if it was over
 * before.
 */
async function until(at: number): Promise<Lamp | undefined> {
  const lamp = begin();
  const power = new Power({ at, kind: "after" });
  lamp.machine.power = power;
  try {
    await lamp.until(() => !power.on || lamp.updated, PATIENCE_MS);
  } catch (error) {
    if (power.on || !(error instanceof PowerLossError)) throw error;
  }
  lamp.machine.off();
  return power.on ? undefined : lamp;
}

async function survives(lamp: Lamp): Promise<void> {
  lamp.machine.power = new Power();
  await lamp.until(() => lamp.updated, PATIENCE_MS);
  const { version, machine, shown } = lamp;
  if (version !== "2.0.0" || shown.running !== "2.0.0" || machine.state !== "confirmed")
    throw new Error(`it runs ${version}, ${machine.state}: ${JSON.stringify(shown)}`);
}

/**
 * `dice` picks one bit of the journal at each change of an update; without it one bit of each of
 * its bytes is damaged.
 */
export async function flipUpdate(dice?: Dice): Promise<Flipped> {
  const flipped: Flipped = { runs: 0, over: 0, problems: [] };
  for (let at = 0; ; at++) {
    const first = await until(at);
    if (!first) return flipped;
    const length = first.machine.store.get(JOURNAL)?.length ?? 0;
    const bytes = dice ? [dice.below(Math.max(1, length))] : Array.from({ length }, (_, i) => i);
    for (const byte of length > 0 ? bytes : []) {
      const bit = dice ? dice.below(8) : byte % 8;
      const lamp = (await until(at)) as Lamp;
      const journal = lamp.machine.store.get(JOURNAL)!;
      journal[byte]! ^= 1 << bit;
      lamp.machine.store.values.set(JOURNAL, journal);
      flipped.runs++;
      try {
        await survives(lamp);
      } catch (error) {
        const { message } = error as Error;
        flipped.problems.push(`change ${at}, bit ${bit} of byte ${byte}: ${message}`);
      }
    }
  }
}
