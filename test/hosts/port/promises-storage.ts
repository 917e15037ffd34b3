import { check, pattern, same, sameBytes } from "./check.js";
import type { Promised } from "./promised.js";

const erased = (length: number): Uint8Array => new Uint8Array(length).fill(0xff);

export const storagePromises: readonly Promised[] = [
  {
    title: "store: keeps values of 0, 1 and 4,000 bytes, and replaces them by shorter and longer ones",
    run({ store }) {
      for (const length of [0, 4000, 1, 4000, 0]) {
        check(store.set("value", pattern(length, length)), `${length} bytes not taken`);
        sameBytes(store.get("value"), pattern(length, length), `${length} bytes`);
      }
    },
  },
  {
    title: "store: what it gave and what it was given are copies",
    run({ store }) {
      const given = pattern(16);
      store.set("copy", given);
      given.fill(7);
      sameBytes(store.get("copy"), pattern(16), "after a change of what was given");
      store.get("copy")?.fill(9);
      sameBytes(store.get("copy"), pattern(16), "after a change of what was read");
    },
  },
  {
    title: "store: keys of any 15 characters are distinguished",
    run({ store }) {
      const keys = [
        "a",
        "A",
        "a.",
        "..",
        "a/b",
        "a%2fb",
        "a b",
        "con",
        "fifteen-letters",
        "ключ-15-символо",
        "__proto__",
      ];
      for (const [n, key] of keys.entries()) check(store.set(key, Uint8Array.of(n)), `"${key}" not taken`);
      for (const [n, key] of keys.entries()) sameBytes(store.get(key), Uint8Array.of(n), `"${key}"`);
    },
  },
  {
    title: "store: a value that was never set or was deleted is undefined, and deleting it succeeds",
    run({ store }) {
      same(store.get("nothing"), undefined, "value that was never set");
      store.set("gone", pattern(8));
      store.set("kept", pattern(9));
      same(store.delete("gone"), true, "delete");
      same(store.delete("gone"), true, "delete again");
      same(store.get("gone"), undefined, "value");
      sameBytes(store.get("kept"), pattern(9), "the other value");
    },
  },
  {
    title: "store: values outlive a restart",
    needs: "restart",
    async run({ store }, tools) {
      store.set("token", pattern(20));
      store.set("deleted", pattern(20));
      store.delete("deleted");
      const after = (await tools.restart()).store;
      sameBytes(after.get("token"), pattern(20), "value");
      same(after.get("deleted"), undefined, "deleted value");
    },
  },
  {
    title: "blocks: an erased sector reads 0xff, its neighbours keep their bytes",
    run({ blocks }) {
      const { size, sectorSize } = blocks;
      check(
        sectorSize > 0 && size > 0 && size % sectorSize === 0,
        `${size} bytes in sectors of ${sectorSize}`,
      );
      check(blocks.erase(0) && blocks.erase(sectorSize), "erase");
      check(blocks.write(0, pattern(sectorSize)), "write");
      check(blocks.write(sectorSize, pattern(sectorSize, 5)), "write the second");
      check(blocks.erase(0), "erase again");
      const bytes = new Uint8Array(sectorSize);
      check(blocks.read(0, bytes), "read");
      sameBytes(bytes, erased(sectorSize), "erased");
      check(blocks.read(sectorSize, bytes), "read the second");
      sameBytes(bytes, pattern(sectorSize, 5), "neighbour");
    },
  },
  {
    title: "blocks: pieces of any length are written side by side, unchanged, and read across sectors",
    run({ blocks }) {
      const { sectorSize } = blocks;
      blocks.erase(0);
      blocks.erase(sectorSize);
      const all = pattern(2 * sectorSize);
      let at = 0;
      for (let n = 1; at < all.length; n = (n * 3) % 1021) {
        const end = Math.min(at + n, at < sectorSize ? sectorSize : all.length);
        check(blocks.write(at, all.subarray(at, end)), `write ${at} to ${end}`);
        at = end;
      }
      sameBytes(all, pattern(2 * sectorSize), "given");
      const bytes = new Uint8Array(sectorSize);
      check(blocks.read(sectorSize / 2, bytes), "read");
      sameBytes(bytes, all.subarray(sectorSize / 2, sectorSize / 2 + sectorSize), "bytes");
    },
  },
  {
    title: "blocks: beyond the end, and across sectors, nothing is done",
    run({ blocks }) {
      const { size, sectorSize } = blocks;
      same(blocks.read(size - 1, new Uint8Array(2)), false, "read beyond the end");
      same(blocks.write(size - 1, new Uint8Array(2)), false, "write beyond the end");
      same(blocks.write(sectorSize - 1, new Uint8Array(2)), false, "write across sectors");
      same(blocks.erase(size), false, "erase beyond the end");
    },
  },
  {
    title: "blocks: bytes outlive a restart",
    needs: "restart",
    async run({ blocks }, tools) {
      blocks.erase(0);
      blocks.write(10, pattern(100));
      const bytes = new Uint8Array(100);
      check((await tools.restart()).blocks.read(10, bytes), "read");
      sameBytes(bytes, pattern(100), "bytes");
    },
  },
];
