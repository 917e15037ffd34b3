// Which image starts next, and which never starts again.
import { createHash } from "node:crypto";
import fs, { chownSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { type ExecutionContext } from "ava";
import { readBoot, slotPath, writeBoot } from "../../../hosts/node/boot-record.js";
import { createHost } from "../../../hosts/node/host.js";
import { forgetStart, prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { unless } from "../../unless.js";
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

/** Runs `act` while no file below `folder` can be created or replaced. */
function readOnly<T>(folder: string, act: () => T): T {
  const { openSync } = fs;
  fs.openSync = (path, flags, mode) => {
    if (String(path).startsWith(folder) && String(flags).startsWith("w"))
      throw Object.assign(new Error("read-only"), { code: "EROFS" });
    return openSync(path, flags, mode);
  };
  syncBuiltinESMExports();
  try {
    return act();
  } finally {
    fs.openSync = openSync;
    syncBuiltinESMExports();
  }
}

for (const [when, starts] of [
  ["before", 0],
  ["after", 1],
] as const)
  test(`a disk that is read-only ${when} the trial began: the previous image runs, and the trial waits`, (t) => {
    const { stateDir, fallbacks, start } = activated(t);
    if (starts === 0) {
      const unpacked = { ...readBoot(stateDir)!, active: "a", state: "confirmed" } as const;
      const pending = readBoot(stateDir)!;
      writeBoot(stateDir, unpacked);
      t.is(start(), "a confirmed");
      writeBoot(stateDir, pending);
    } else t.is(start(), "b pending");
    const found = readBoot(stateDir);
    readOnly(stateDir, () => {
      const begun = prepareStart(stateDir, (name, why) => fallbacks.push(`${name} ${why}`));
      t.deepEqual([begun?.slot, begun?.state, fallbacks], ["a", "confirmed", ["b unstorable"]]);
      t.true(readFileSync(begun!.path).equals(image("1")));
    });
    t.deepEqual(readBoot(stateDir), found);
  });

unless(test, process.getuid?.() === 0 ? undefined : "needs root")(
  "an image is not unpacked to a directory for temporary files that another user made",
  (t) => {
    const { stateDir, start } = activated(t);
    const id = createHash("sha256").update(stateDir).digest("hex").slice(0, 16);
    const planted = join(tmpdir(), `mote-${id}`);
    mkdirSync(planted);
    t.teardown(() => rmSync(planted, { recursive: true }));
    chownSync(planted, 2, 2);
    readOnly(stateDir, () => t.throws(start, { message: /belongs to another user/ }));
    t.deepEqual(readdirSync(planted), []);
  },
);

test("an image that runs in place of a pending one is confirmed, and its slot is never written", (t) => {
  const { stateDir } = activated(t);
  const { slot, close } = createHost({ stateDir, runningSlot: "a" });
  t.is(slot.state(), "confirmed");
  t.true(slot.confirm());
  t.is(readBoot(stateDir)?.active, "b", "nothing is confirmed that did not run");
  t.true(slot.erase(0));
  const { active, state, images } = readBoot(stateDir)!;
  t.deepEqual([active, state, Object.keys(images)], ["a", "confirmed", ["a"]]);
  close();
});
