// The order in which an image comes to the slot: its first bytes last, when all others are durable.
import test from "ava";
import {
  HEAD_BYTES,
  ImageWriter,
  writeHeader,
} from "../../../../src/agent/firmware/download/image-writer.js";
import { FakeSlot } from "../../../fakes/flash.js";

const SECTOR = 4096;
const BYTES = new Uint8Array(2 * SECTOR + 100).map((_, at) => at % 251);
const isErased = (slot: FakeSlot) => slot.bytes.subarray(0, HEAD_BYTES).every((byte) => byte === 0xff);

/**
 * A slot that has all bytes except the header, the header, and what was asked of the slot since.
 */
function written() {
  const slot = new FakeSlot(16 * SECTOR, SECTOR);
  const writer = new ImageWriter(slot, 0, new Uint8Array());
  if (!writer.append(BYTES)) throw new Error("the slot takes all");
  const calls: string[] = [];
  slot.fails = (call, at) => {
    calls.push(`${call} ${at}`);
    return false;
  };
  return { slot, head: writer.head, calls };
}

test("reads the last byte, writes the header and reads it, so that the image is durable before", (t) => {
  const { slot, head, calls } = written();
  t.true(isErased(slot), "no header yet");
  t.true(writeHeader(slot, head, BYTES.length));
  t.deepEqual(calls.slice(1), [`read ${BYTES.length - 1}`, "write 0", "read 0"]);
  t.deepEqual(slot.bytes.slice(0, BYTES.length), BYTES);
});

test("writes no header if the read before it fails", (t) => {
  const { slot, head } = written();
  slot.fails = (call, at) => call === "read" && at > 0;
  t.false(writeHeader(slot, head, BYTES.length));
  t.true(isErased(slot));
});

test("writes the header again if a power loss left a part of it, and never twice", (t) => {
  const { slot, head, calls } = written();
  slot.bytes.set(head.subarray(0, 5));
  slot.forgetWrites();
  t.true(writeHeader(slot, head, BYTES.length));
  t.deepEqual(slot.bytes.slice(0, BYTES.length), BYTES);
  calls.length = 0;
  t.true(writeHeader(slot, head, BYTES.length));
  t.deepEqual(calls, ["read 0"]);
});

test("erases a sector before it writes to it, and the old header before it takes a byte", (t) => {
  const slot = new FakeSlot(16 * SECTOR, SECTOR);
  slot.bytes.fill(0x55);
  const writer = new ImageWriter(slot, 0, new Uint8Array());
  t.true(writer.append(BYTES.subarray(0, 1)));
  t.true(slot.bytes.subarray(0, SECTOR).every((byte) => byte === 0xff));
  t.true(writer.append(BYTES.subarray(1)));
  t.deepEqual(slot.bytes.slice(HEAD_BYTES, BYTES.length), BYTES.slice(HEAD_BYTES));
  t.true(isErased(slot));
});
