// The order in which an image comes to the slot: its first bytes last, when all others are durable.
import { createHash } from "node:crypto";
import test from "ava";
import type { Image } from "../../../../src/agent/firmware/admission.js";
import { ImageWriter } from "../../../../src/agent/firmware/download/image-writer.js";
import { openCheck } from "../../../../src/agent/firmware/download/verification.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { fakeHost } from "../../../fakes/host.js";

const SECTOR = 4096;
const BYTES = new Uint8Array(2 * SECTOR + 100).map((_, at) => at % 251);
const checksum = createHash("sha256").update(BYTES).digest("hex");
const IMAGE = { algorithm: "SHA256", checksum, signed: undefined, size: BYTES.length } as unknown as Image;

/** A writer that has all bytes, and what it asked of the slot since. */
async function written() {
  const slot = new FakeSlot(16 * SECTOR, SECTOR);
  const host = fakeHost({ slot });
  const writer = new ImageWriter(host, openCheck(host, IMAGE)!, BYTES.length, 0, {
    onTake: () => {},
    onStep: () => {},
  });
  if (!writer.unseal() || !writer.append(BYTES)) throw new Error("the slot takes all");
  const problem = await writer.problem();
  const calls: string[] = [];
  slot.fails = (call, at) => {
    calls.push(`${call} ${at}`);
    return false;
  };
  return { slot, writer, calls, problem };
}

test("reads the last byte, writes the header and reads it, so that the image is durable before", async (t) => {
  const { slot, writer, calls, problem } = await written();
  t.is(problem, undefined);
  t.true(
    slot.bytes.subarray(0, 32).every((byte) => byte === 0xff),
    "no header yet",
  );
  t.true(writer.seal());
  t.deepEqual(calls, [`read ${BYTES.length - 1}`, "write 0", "read 0"]);
  t.deepEqual(slot.bytes.slice(0, BYTES.length), BYTES);
});

test("writes no header if the read before it fails", async (t) => {
  const { slot, writer } = await written();
  slot.fails = (call) => call === "read";
  t.false(writer.seal());
  t.true(slot.bytes.subarray(0, 32).every((byte) => byte === 0xff));
});

test("erases a sector before it writes to it, and the old header before it takes a byte", (t) => {
  const slot = new FakeSlot(16 * SECTOR, SECTOR);
  slot.bytes.fill(0x55);
  const host = fakeHost({ slot });
  const listener = { onTake: () => {}, onStep: () => {} };
  const writer = new ImageWriter(host, openCheck(host, IMAGE)!, BYTES.length, 0, listener);
  t.true(writer.unseal());
  t.true(slot.bytes.subarray(0, SECTOR).every((byte) => byte === 0xff));
  t.true(writer.append(BYTES));
  t.deepEqual(slot.bytes.slice(32, BYTES.length), BYTES.slice(32));
});
