// The board's host keeps the port's promises, as far as they are its own: sockets and digests are those of hosts/xs.
import test from "ava";
import { createHost } from "../../../hosts/esp32/host.js";
import { pattern } from "../port/check.js";
import type { Tools } from "../port/promised.js";
import { slotPromises } from "../port/promises-slot.js";
import { storagePromises } from "../port/promises-storage.js";
import { valuePromises } from "../port/promises-values.js";
import { FakeBoard } from "./board.js";

for (const { title, run } of [...storagePromises, ...slotPromises, ...valuePromises]) {
  test(title, async (t) => {
    const board = new FakeBoard();
    // Both slots hold an image: there is one to fall back to.
    const image = pattern(5000, 0xe9);
    for (const slot of board.slots)
      for (let at = 0; at < 5000; at += 4096) slot.write(at, image.subarray(at, at + 4096));
    await t.notThrowsAsync(async () =>
      run(createHost(board.boot()), {
        restart: async () => createHost(board.boot(3)),
      } as unknown as Required<Tools>),
    );
    for (const flash of [...board.slots, board.outbox]) t.deepEqual(flash.violations, []);
  });
}
