// What a start finds in the blocks: the queue, one of another format, something else, or nothing that can be read.
import test from "ava";
import fc from "fast-check";
import { HEADER_BYTES } from "../../../../src/agent/queue/record.js";
import { FakeFlash } from "../../../fakes/flash.js";
import { upTo } from "../telemetry/rig.js";
import { rig, textOf, waitingNumbers } from "./rig.js";

const flash = (sectors = 4, sectorSize = 512) => new FakeFlash(sectors * sectorSize, sectorSize);
/** The same flash after a restart. */
const again = (blocks: FakeFlash) => new FakeFlash(blocks.size, blocks.sectorSize, blocks.bytes);

test("blocks too small for a durable queue are logged, and points wait in memory", (t) => {
  for (const [sectors, sectorSize] of [
    [1, 4096],
    [8, 256],
  ] as const) {
    const { outbox, host } = rig(flash(sectors, sectorSize));
    t.true(outbox.append(textOf(7), undefined));
    t.deepEqual(waitingNumbers(outbox), [7]);
    t.deepEqual(host.lines, [
      "error: the blocks are too small for a durable queue: points are kept in memory only",
    ]);
  }
});

test("a header torn at the start is not taken for another format: the points of the others are delivered", (t) => {
  for (let torn = 1; torn < HEADER_BYTES; torn++) {
    const blocks = flash(4);
    const { outbox } = rig(blocks);
    let n = 0;
    // The second sector has a header and no point.
    for (; blocks.changes < 2 || blocks.erases[1] === 0; n++) outbox.append(textOf(n), undefined);
    blocks.bytes.fill(0xff, 512 + torn, 1024);
    const next = rig(again(blocks));
    t.deepEqual(waitingNumbers(next.outbox), upTo(n - 1), `${torn} bytes`);
    t.true(next.outbox.append(textOf(n), undefined));
    t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), [...upTo(n - 1), n], `${torn} bytes`);
    t.deepEqual(next.host.lines, [`info: ${n - 1} points wait from before`]);
  }
});

test("whatever the blocks held before they were the outbox's, it starts empty and works", (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 2048, maxLength: 2048 }), (bytes) => {
      const blocks = new FakeFlash(2048, 512, bytes);
      const { outbox } = rig(blocks);
      for (let n = 0; n < 5; n++) outbox.append(textOf(n), undefined);
      t.deepEqual(waitingNumbers(rig(again(blocks)).outbox), upTo(5));
    }),
    { numRuns: 50 },
  );
});

test("blocks full of something else are logged, as points may have been in them; blank ones are not", (t) => {
  const strange = rig(new FakeFlash(2048, 512, new Uint8Array(2048).fill(0x5a)));
  t.true(
    strange.host.lines.some((line) => line.includes("it begins empty")),
    strange.host.lines.join(),
  );
  t.deepEqual(rig(flash(4)).host.lines, []);
});
