import test from "ava";
import { checkPartitions, imageRoom, readPartitions } from "../../hosts/sdk/partitions.js";
import { read } from "../house/tree.js";

const OURS = read("hosts/esp32/flash/sdkconfig/partitions.csv");
const FLASH = 4 * 1024 * 1024;
const check = (csv: string, flash = FLASH): string[] => checkPartitions(readPartitions(csv), flash);

test("the project's table is good and fills 4 MB to the byte", (t) => {
  t.deepEqual(check(OURS), []);
  t.deepEqual(check(OURS, FLASH - 1), ["the table ends at 0x400000, the flash at 0x3fffff"]);
  t.is(imageRoom(readPartitions(OURS)), 1_572_864);
});

test("the outbox is as large as the README's table of points held says", (t) => {
  const outbox = readPartitions(OURS).find(({ name }) => name === "outbox");
  t.is(outbox?.size, 640 * 1024);
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
    "0x1a0000",
    "0x190000",
    "ota_1: begins at 0x190000, before 0x1a0000 where the one before ends",
  ],
  [
    "an app out of line",
    "0x1a0000, 0x180000",
    "0x1a1000, 0x17f000",
    "ota_1: 0x1a1000 is no multiple of 0x10000",
  ],
  ["half a sector", "0x40000,", "0x3f800,", "storage: a size of 0x3f800 is not of whole sectors"],
  [
    "apps of two sizes",
    "0x1a0000, 0x180000",
    "0x1a0000, 0x170000",
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

for (const [what, from, to, told] of BROKEN) {
  test(`${what} is told`, (t) => {
    const csv = OURS.replace(from, to);
    t.not(csv, OURS);
    t.true(check(csv).includes(told), check(csv).join("\n"));
  });
}

test("a row that can't be read is refused", (t) => {
  t.throws(() => readPartitions("nvs, data, nvs, 0x9000, large\n"), { message: /can't be read: nvs/ });
});
