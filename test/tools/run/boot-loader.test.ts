// Which image starts next, and which never starts again.
import { readFileSync, writeFileSync } from "node:fs";
import test, { type ExecutionContext } from "ava";
import { readBoot, slotPath, writeBoot } from "../../../hosts/node/boot-record.js";
import { createHost } from "../../../hosts/node/host.js";
import { forgetStart, prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { image } from "./images.js";
import { temporaryState } from "./session.js";

/** A device that runs image 1, with image 2 activated; `started` runs it once. */
function activated(t: ExecutionContext) {
  const stateDir = temporaryState(t);
  const fallbacks: string[] = [];
  flash(stateDir, image("1"));
  const { slot, close } = createHost({ stateDir });
  const next = image("2");
  t.true(slot.erase(0) && slot.write(0, next) && slot.activate(next.length));
  close();
  const start = (): string => {
    const begun = prepareStart(stateDir, (name, why) => fallbacks.push(`${name} ${why}`));
    return `${begun?.slot} ${begun?.state}`;
  };
  return { stateDir, fallbacks, start };
}

test("an image on trial starts once: at the next start the device rolls back", (t) => {
  const { stateDir, fallbacks, start } = activated(t);
  t.is(start(), "b pending");
  t.true(readBoot(stateDir)?.started, "stored before the image runs");
  t.is(start(), "a confirmed");
  t.deepEqual(fallbacks, ["b failed"]);
  t.is(start(), "a confirmed");
});

test("a trial that is stopped in good order starts again, five times in all", (t) => {
  const { stateDir, start } = activated(t);
  for (let starts = 1; starts <= 5; starts++) {
    t.is(start(), "b pending", `${starts}`);
    forgetStart(stateDir);
  }
  t.is(start(), "a confirmed");
});

test("an image whose bytes changed does not start: the other one does", (t) => {
  const { stateDir, fallbacks, start } = activated(t);
  const confirmed = { ...readBoot(stateDir)!, state: "confirmed" } as const;
  writeBoot(stateDir, confirmed);
  const path = slotPath(stateDir, "b");
  const bytes = readFileSync(path);
  bytes[40]! ^= 1;
  writeFileSync(path, bytes);
  t.is(start(), "a confirmed");
  t.deepEqual(fallbacks, ["b damaged"]);
});

test("the slot of the previous image can't be written during a trial", (t) => {
  const { stateDir, start } = activated(t);
  t.is(start(), "b pending");
  const { slot, close } = createHost({ stateDir });
  t.false(slot.erase(0) || slot.write(0, new Uint8Array(16)) || slot.activate(16));
  t.true(slot.confirm() && slot.erase(0));
  close();
});
