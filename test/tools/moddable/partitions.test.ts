import test from "ava";
import {
  checkPartitions,
  imageRoom,
  readPartitions,
  secureTable,
} from "../../../tools/moddable/esp32/partitions.js";
import { read } from "../../architecture/tree.js";

const OURS = read("hosts/esp32/flash/sdkconfig/partitions-4mb.csv");
const FLASH = 4 * 1024 * 1024;
const check = (csv: string, flash = FLASH): string[] => checkPartitions(readPartitions(csv), flash);

for (const [megabytes, room] of [
  [4, 1_835_008],
  [8, 3_145_728],
  [16, 4_194_304],
] as const) {
  test(`the table for ${megabytes} MB is good and fills the flash to the byte`, (t) => {
    const csv = read(`hosts/esp32/flash/sdkconfig/partitions-${megabytes}mb.csv`);
    const bytes = megabytes * 1024 * 1024;
    const [end, last] = [bytes, bytes - 1].map((value) => `0x${value.toString(16)}`);
    t.deepEqual(check(csv, bytes), []);
    t.deepEqual(check(csv, bytes - 1), [`the table ends at ${end}, the flash at ${last}`]);
    t.is(imageRoom(readPartitions(csv)), room);
  });
}

test("the outbox is as large as docs/telemetry.md's table of points held says", (t) => {
  const outbox = readPartitions(OURS).find(({ name }) => name === "outbox");
  t.is(outbox?.size, 256 * 1024);
});

test("an offset that is left out follows the row before, apps at 64 KiB", (t) => {
  const csv = "nvs, data, nvs, , 24K\nphy, data, phy, , 0x1000\na, app, ota_0, , 1M\n";
  t.deepEqual(
    readPartitions(csv).map(({ offset, size }) => [offset, size]),
    [
      [0x9000, 0x6000],
      [0xf000, 0x1000],
      [0x10000, 0x100000],
    ],
  );
});

const BROKEN: readonly (readonly [string, string, string, string])[] = [
  [
    "an overlap",
    "0x1e0000",
    "0x1d0000",
    "ota_1: begins at 0x1d0000, before 0x1e0000 where the one before ends",
  ],
  [
    "an app out of line",
    "0x1e0000, 0x1c0000",
    "0x1e1000, 0x1bf000",
    "ota_1: 0x1e1000 is no multiple of 0x10000",
  ],
  ["half a sector", "0x20000,\n", "0x1f800,\n", "storage: a size of 0x1f800 is not of whole sectors"],
  [
    "apps of two sizes",
    "0x1e0000, 0x1c0000",
    "0x1e0000, 0x1b0000",
    "ota_0 and ota_1 differ in size: an image must fit both",
  ],
  ["no outbox", "outbox,", "queue,", "outbox: missing"],
  ["a name twice", "storage,", "nvs,", "nvs: twice"],
  [
    "a name too long",
    "storage,",
    "storage-of-sixteen,",
    "storage-of-sixteen: a name has 15 characters at most",
  ],
  ["OTA data of one sector", "0x2000", "0x1000", "otadata: two sectors, no more and no less"],
];

for (const [what, from, to, problem] of BROKEN) {
  test(`${what} is reported`, (t) => {
    const csv = OURS.replace(from, to);
    t.not(csv, OURS);
    t.true(check(csv).includes(problem), check(csv).join("\n"));
  });
}

test("a row that can't be read is refused", (t) => {
  t.throws(() => readPartitions("nvs, data, nvs, 0x9000, large\n"), { message: /can't be read: nvs/ });
});

test("the table of a protected board keeps the slots and has room for keys and a larger boot loader", (t) => {
  for (const megabytes of [4, 8, 16]) {
    const plain = read(`hosts/esp32/flash/sdkconfig/partitions-${megabytes}mb.csv`);
    const table = secureTable(plain);
    t.deepEqual(check(table, megabytes * 1024 * 1024), []);
    t.regex(table, /^nvs_keys, data, nvs_keys, 0x16000, 0x1000, encrypted$/m);
    t.is(Math.min(...readPartitions(table).map(({ offset }) => offset)), 0x10000);
    const slots = (csv: string) => readPartitions(csv).filter(({ offset }) => offset >= 0x20000);
    t.deepEqual(slots(table), slots(plain));
  }
});
