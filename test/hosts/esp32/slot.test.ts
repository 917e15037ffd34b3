import test from "ava";
import { createHost } from "../../../hosts/esp32/host.js";
import { pattern } from "../port/check.js";
import { FakeBoard } from "./board.js";

const IMAGE = pattern(10_000, 0xe9);

function rig(image = IMAGE) {
  const board = new FakeBoard();
  const { slot } = createHost(board.boot());
  for (let at = 0; at < image.length; at += 4096) slot.write(at, image.subarray(at, at + 4096));
  return { board, slot };
}

test("what does not begin as an image does is never activated", (t) => {
  const { board, slot } = rig(pattern(10_000, 1));
  // ESP-IDF looks too.
  board.magic = false;
  t.false(slot.activate(10_000));
  t.is(board.next, 0);
});

test("an image that ESP-IDF finds unfit leaves the running one as the next", (t) => {
  const { board, slot } = rig();
  board.unfit = () => true;
  t.false(slot.activate(IMAGE.length));
  t.is(board.next, 0);
  t.is(createHost(board.boot(1)).slot.state(), "confirmed");
});

test("nothing of the slot is touched while the running image is pending, nor once it was activated", (t) => {
  const { board, slot } = rig();
  t.true(slot.activate(IMAGE.length));
  t.false(slot.erase(0));
  t.false(slot.write(20_480, pattern(4)));
  t.false(slot.activate(IMAGE.length));
  const next = createHost(board.boot(3)).slot;
  t.is(next.state(), "pending");
  t.false(next.erase(0));
  t.false(next.write(20_480, pattern(4)));
  t.false(next.activate(IMAGE.length));
});

test("a slot without an image is nothing to revert to", (t) => {
  const { board, slot } = rig();
  t.true(slot.activate(IMAGE.length));
  const next = createHost(board.boot(3)).slot;
  t.false(next.revert());
});

test("a power loss while an image is activated leaves the running one, and an image that can be activated again", (t) => {
  const { board, slot } = rig();
  board.unfit = () => {
    board.powerOff();
    return false;
  };
  t.false(slot.activate(IMAGE.length));
  board.unfit = () => false;
  const next = createHost(board.boot(1)).slot;
  t.is(board.running, 0);
  t.is(next.state(), "confirmed");
  t.true(next.activate(IMAGE.length));
  t.is(board.next, 1);
  const [, other] = board.slots;
  t.deepEqual(other.violations, []);
});

test("writes an image of any length, cut anywhere, in blocks that encrypted flash takes", (t) => {
  for (const [length, cut] of [
    [10_000, 1],
    [9_999, 7],
    [4_096, 16],
    [33, 5],
    [8_191, 1_460],
  ] as const) {
    const image = pattern(length, 0xe9);
    const { slot } = createHost(new FakeBoard().boot());
    for (let at = 32; at < length; ) {
      if (at === 32) t.true(slot.erase(0));
      else if (at % 4096 === 0) t.true(slot.erase(at));
      const to = Math.min(at + cut, length, at - (at % 4096) + 4096);
      t.true(slot.write(at, image.subarray(at, to)), `${at} of ${length}`);
      at = to;
    }
    const last = new Uint8Array(1);
    t.true(slot.read(length - 1, last));
    t.true(slot.write(0, image.subarray(0, 32)));
    const read = new Uint8Array(length);
    t.true(slot.read(0, read));
    t.deepEqual(read, image);
  }
});
