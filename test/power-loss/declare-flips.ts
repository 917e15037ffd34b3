// The bit flips as AVA tests: one for each queue, for the journal of an update, and for the whole
// store.
import test from "ava";
import { SEED } from "../sample.js";
import type { Dice } from "../simulation/dice.js";
import { flipQueue, queuesLeft, survives } from "./bit-flips.js";
import { flipStore } from "./bit-flips-store.js";
import { flipUpdate } from "./bit-flips-update.js";

/**
 * Points counted and not lost, at most: what a damaged status entry confirmed, and the end of a
 * sector.
 */
const OVER = 8;
const SHOWN = 3;

/** `dice` picks one bit of each byte; without it all eight are damaged, one at a time. */
export function bitFlipTests(dice?: Dice): void {
  const how = dice ? `any bit of each byte (seed ${SEED})` : "every bit";
  for (const left of queuesLeft())
    test(`delivers or counts every point after ${how} changed: ${left.name}`, (t) => {
      t.is(survives(left, left.flash, left.store), 0);
      const { runs, over, problems } = flipQueue(left, dice);
      t.is(problems.length, 0, problems.slice(0, SHOWN).join("\n"));
      t.true(over <= OVER, `${over} points were counted and not lost`);
      t.log(`${runs} damaged, ${over} points too many at most`);
    });
  for (const [title, flip] of [
    [
      "comes to the new image after a bit of the update journal changed, at every change of an update",
      flipUpdate,
    ],
    ["is the same device after a bit of any stored value changed", flipStore],
  ] as const)
    test.serial(title, async (t) => {
      const { runs, problems } = await flip(dice);
      t.is(problems.length, 0, problems.slice(0, SHOWN).join("\n"));
      t.true(runs > 20);
      t.log(`${runs} damaged${dice ? ` (seed ${SEED})` : ""}`);
    });
}
