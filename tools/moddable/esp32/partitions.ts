// Reads and checks a partition table (CSV) for ESP-IDF and for the hosts of Mote.

export interface Partition {
  readonly name: string;
  readonly type: string;
  readonly subtype: string;
  readonly offset: number;
  readonly size: number;
}

const KIB = 1024;
/** Where the boot loader and the table itself end. */
const FIRST = 0x9000;
const SECTOR = 0x1000;
const APP_ALIGNMENT = 0x10000;
const LONGEST_NAME = 15;
/** Without it the agent keeps points in memory only; two sectors are the least. */
const NEEDED = ["nvs", "otadata", "ota_0", "ota_1", "outbox"];
const NUMBER = /^(0x[0-9a-f]+|\d+)([km]?)$/i;

/** The rows of `csv` with an offset each. Throws for a row that can't be read. */
export function readPartitions(csv: string): Partition[] {
  let end = FIRST;
  const rows = csv
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  return rows.map((row) => {
    const [name = "", type = "", subtype = "", at = "", length = ""] = row
      .split(",")
      .map((cell) => cell.trim());
    const alignment = type === "app" ? APP_ALIGNMENT : SECTOR;
    const offset = at === "" ? Math.ceil(end / alignment) * alignment : bytes(at, row);
    const size = bytes(length, row);
    end = offset + size;
    return { name, type, subtype, offset, size };
  });
}

/** What is wrong with the table for a flash of `flashBytes`; an empty list if nothing is. */
export function checkPartitions(partitions: readonly Partition[], flashBytes: number): string[] {
  const wrong: string[] = [];
  const sorted = [...partitions].sort((a, b) => a.offset - b.offset);
  let end = FIRST;
  for (const { name, type, offset, size } of sorted) {
    if (name.length > LONGEST_NAME) wrong.push(`${name}: a name has at most ${LONGEST_NAME} characters`);
    if (offset < end)
      wrong.push(`${name}: begins at ${hex(offset)}, but the partition before it ends at ${hex(end)}`);
    const alignment = type === "app" ? APP_ALIGNMENT : SECTOR;
    if (offset % alignment !== 0)
      wrong.push(`${name}: ${hex(offset)} is not a multiple of ${hex(alignment)}`);
    if (size === 0 || size % SECTOR !== 0)
      wrong.push(`${name}: size ${hex(size)} is not a multiple of the sector size`);
    end = offset + size;
  }
  if (end > flashBytes) wrong.push(`the table ends at ${hex(end)}, the flash at ${hex(flashBytes)}`);
  const names = partitions.map(({ name }) => name);
  for (const name of new Set(names))
    if (names.indexOf(name) !== names.lastIndexOf(name)) wrong.push(`${name}: the name is used twice`);
  for (const name of NEEDED) if (!names.includes(name)) wrong.push(`${name}: missing`);
  const [first, second] = ["ota_0", "ota_1"].map(
    (name) => partitions.find((found) => found.name === name)?.size,
  );
  if (first !== second) wrong.push("ota_0 and ota_1 differ in size: an image must fit both");
  const otadata = partitions.find(({ subtype }) => subtype === "ota");
  if (otadata && otadata.size !== 2 * SECTOR) wrong.push(`${otadata.name}: must have exactly two sectors`);
  return wrong;
}

/** The largest image, in bytes. */
export const imageRoom = (partitions: readonly Partition[]): number =>
  Math.min(...partitions.filter(({ type }) => type === "app").map(({ size }) => size));

function bytes(cell: string, row: string): number {
  const [, digits, unit = ""] = NUMBER.exec(cell) ?? [];
  if (digits === undefined) throw new Error(`invalid row of the partition table: ${row}`);
  return Number(digits) * (unit === "" ? 1 : unit.toLowerCase() === "k" ? KIB : KIB * KIB);
}

/** Sizes before the first application, in the order of their offsets. */
const SECURE_HEAD = [
  ["nvs", "data", "nvs", 0x6000, ""],
  // Only the chip can read this partition: it holds the keys of NVS.
  ["nvs_keys", "data", "nvs_keys", 0x1000, "encrypted"],
  ["phy_init", "data", "phy", 0x1000, ""],
  ["otadata", "data", "ota", 0x2000, ""],
] as const;

/** A boot loader that decrypts or verifies is larger than 28 KiB. */
export const SECURE_TABLE_OFFSET = 0xf000;

/**
 * Table for encryption or secure boot: moves the head, and adds the keys of NVS. A partition that
 * the head would reach into begins behind it, and is smaller.
 */
export function secureTable(csv: string): string {
  const head = SECURE_HEAD.map(([name]): string => name);
  const others = csv
    .split("\n")
    .filter((line) => line.trim() !== "" && !line.startsWith("#"))
    .filter((line) => !head.includes(line.split(",")[0]?.trim() ?? ""));
  let offset = SECURE_TABLE_OFFSET + SECTOR;
  const rows = SECURE_HEAD.map(([name, type, subtype, size, flags]) => {
    const row = `${name}, ${type}, ${subtype}, ${hex(offset)}, ${hex(size)}, ${flags}`;
    offset += size;
    return row;
  });
  const moved = others.map((row) => {
    const [{ name, type, subtype, offset: at, size }] = readPartitions(row) as [Partition];
    if (at >= offset) return row;
    return `${name}, ${type}, ${subtype}, ${hex(offset)}, ${hex(at + size - offset)},`;
  });
  return `${[...rows, ...moved].join("\n")}\n`;
}

const hex = (value: number): string => `0x${value.toString(16)}`;
