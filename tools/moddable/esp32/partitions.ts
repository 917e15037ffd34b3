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

/**
 * What is wrong with the table for a flash of `flashBytes`, where ESP-IDF's own check says nothing.
 */
export function checkPartitions(partitions: readonly Partition[], flashBytes: number): string[] {
  const missing = NEEDED.filter((name) => !partitions.some((one) => one.name === name));
  const end = Math.max(...partitions.map(({ offset, size }) => offset + size));
  return [
    ...missing.map((name) => `${name}: missing`),
    ...(end > flashBytes ? [`the table ends at ${hex(end)}, the flash at ${hex(flashBytes)}`] : []),
  ];
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
