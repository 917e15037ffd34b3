// Power cuts at every write and erase of the durable queue, clean and torn.
import test from "ava";
import { randomBytes } from "../fakes/host.js";
import { CutFlash, PowerCut, rig, TEARS, type Tear, textOf, waitingNumbers } from "./outbox-rig.js";

const SECTORS = 4;
const SECTOR = 512;
const STEPS = 32;

/** What the application and the platform know: nothing of it may be contradicted by what survives. */
interface Known {
  /** Points for which `append` returned true. */
  accepted: number;
  /** An `append` was cut: one more may be there. */
  appending: boolean;
  /** Points that the platform took, and for which `confirm` returned. */
  done: number;
  /** Points that a `confirm` was told that was cut. */
  confirming: number;
}

function newKnown(): Known {
  return { accepted: 0, appending: false, done: 0, confirming: 0 };
}

/** Appends and delivers by turns, more in than out, until all steps are done or the power fails. */
function work(flash: CutFlash, known: Known, steps: number, drop: "oldest" | "newest"): void {
  const { outbox } = rig(flash, { drop });
  for (let step = 0; step < steps; step++) {
    for (let i = 0; i < 1 + (step % 4); i++) {
      known.appending = true;
      if (outbox.append(textOf(known.accepted), undefined)) known.accepted++;
      known.appending = false;
    }
    if (step % 3 !== 0) continue;
    const points = waitingNumbers(outbox, 1 + (step % 5)).length;
    known.confirming = points;
    outbox.confirm(outbox.first + points);
    known.done += points;
    known.confirming = 0;
  }
}

/** Runs `work` up to the cut. False if it was not reached. */
function cutAfter(flash: CutFlash, changes: number, known: Known, drop: "oldest" | "newest"): boolean {
  flash.left = changes;
  try {
    work(flash, known, STEPS, drop);
    return false;
  } catch (error) {
    if (!(error instanceof PowerCut)) throw error;
    return true;
  }
}

/** What is wrong with what survived, or undefined. Takes over what the cut left open. */
function flaw(flash: CutFlash, known: Known, drop: "oldest" | "newest"): string | undefined {
  const { outbox, host } = rig(flash, { drop });
  const found = waitingNumbers(outbox);
  const { full, unreadable } = outbox.dropped;
  const first = found[0] ?? known.accepted;
  if (unreadable > 0) return `${unreadable} points could not be read`;
  if (found.some((n, i) => n !== first + i)) return `out of order: ${found.join()}`;
  const end = first + found.length;
  const mayBe = known.accepted + (known.appending ? 1 : 0);
  if (end < known.accepted || end > mayBe) return `ends at ${end}, ${known.accepted} were accepted`;
  const lost = drop === "oldest" ? full : 0;
  if (found.length > 0 && first !== known.done + lost && first !== known.done + known.confirming + lost) {
    return `begins at ${first}; ${known.done} done, ${known.confirming} being confirmed, ${lost} dropped`;
  }
  if (host.lines.some((line) => line.startsWith("error"))) return host.lines.join();
  known.accepted = end;
  known.done = first - lost;
  known.appending = false;
  known.confirming = 0;
  return undefined;
}

for (const drop of ["oldest", "newest"] as const) {
  for (const tear of TEARS) {
    test(`whatever change is cut, what was accepted is there in order or counted (${tear}, drop ${drop})`, (t) => {
      let cuts = 0;
      for (let changes = 0; ; changes++) {
        const flash = flashOf(tear, changes);
        const known = newKnown();
        if (!cutAfter(flash, changes, known, drop)) break;
        cuts++;
        const next = flash.survivor();
        const wrong = flaw(next, known, drop) ?? afterwards(next, known, drop);
        if (wrong) return t.fail(`cut ${changes}: ${wrong}`);
      }
      t.true(cuts > 60, `${cuts} cuts`);
    });

    test(`a device that loses power over and over loses no point (${tear}, drop ${drop})`, (t) => {
      const known = newKnown();
      let flash = flashOf(tear, 7);
      for (let changes = 0; changes < 150; changes++) {
        const random = flash.random;
        cutAfter(flash, changes % 40, known, drop);
        flash = flash.survivor();
        flash.tear = tear;
        flash.random = random;
        const wrong = flaw(flash, known, drop);
        if (wrong) return t.fail(`cut ${changes}: ${wrong}`);
      }
      t.true(known.done > 100, `${known.done} done`);
    });
  }
}

/** The work goes on on what survived, to the end. */
function afterwards(flash: CutFlash, known: Known, drop: "oldest" | "newest"): string | undefined {
  flash.left = Number.POSITIVE_INFINITY;
  work(flash, known, STEPS, drop);
  const wrong = flaw(flash.survivor(), known, drop);
  return wrong && `afterwards: ${wrong}`;
}

function flashOf(tear: Tear, seed: number): CutFlash {
  const flash = new CutFlash(SECTORS * SECTOR, SECTOR);
  flash.tear = tear;
  flash.random = randomBytes(seed);
  return flash;
}
