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
  // The SDK looks too, but only after it erased the first sector.
  board.magic = false;
  t.false(slot.activate(10_000));
  t.is(board.next, 0);
});

test("whatever fails on the way leaves the running image as the next one", (t) => {
  for (const failing of ["open", "write", "complete"] as const) {
    const { board, slot } = rig();
    board.updateFails = (step) => step === failing;
    t.false(slot.activate(IMAGE.length), failing);
    t.is(board.next, 0, failing);
    t.is(createHost(board.boot(1)).slot.state(), "confirmed");
  }
});

test("a first sector that reads back otherwise than it was written is not activated", (t) => {
  const { board, slot } = rig();
  const [, other] = board.slots;
  const { write } = other;
  other.write = (at, bytes) =>
    write.call(
      other,
      at,
      bytes.map((byte) => byte & 0xfe),
    );
  t.false(slot.activate(IMAGE.length));
  t.is(board.next, 0);
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

test("a power cut between the erase and the rewrite of the first sector leaves the running image, and a slot to write anew", (t) => {
  const { board, slot } = rig();
  board.updateFails = (step) => {
    if (step === "write") board.cut();
    return false;
  };
  t.false(slot.activate(IMAGE.length));
  const [, other] = board.slots;
  t.true(other.bytes.subarray(0, 4096).every((byte) => byte === 0xff));
  board.updateFails = () => false;
  const next = createHost(board.boot(1)).slot;
  t.is(board.running, 0);
  t.is(next.state(), "confirmed");
  t.false(next.activate(IMAGE.length), "without its beginning it is no image");
  t.is(board.next, 0);
  t.true(next.write(0, IMAGE.subarray(0, 4096)));
  t.true(next.activate(IMAGE.length));
  t.is(board.next, 1);
  t.deepEqual(other.violations, []);
});
