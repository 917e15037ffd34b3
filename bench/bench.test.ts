// The figures of the documentation follow from what was counted; nothing of it needs a chip. The
// tables of the pages judge a battery's day and a day of points.
import test from "ava";
import { read } from "../test/architecture/tree.js";
import { difference, readCounts, withoutIdle } from "./chip/counts.js";
import { erased, FlashLog, yearsOfLife } from "./chip/flash-log.js";
import { FULL, handshakesOf, LOADER, RESUMED, STILL } from "./chip/rows.js";
import { loaderInstructions, symbolsOf } from "./chip/symbols.js";
import { Wire } from "./chip/wire.js";
import { FIRST_WAKE, STEADY_WAKE } from "./desk.js";
import { PAGES, withTables } from "./docs.js";
import { CURRENTS, daysOfCell, joulesOfDay } from "./energy/energy.js";
import { GOALS, goalTable, type Judged, judgeGoals } from "./goals.js";
import { judge, merged, type Result } from "./judge.js";
import { readResults } from "./results.js";
import { inTurn } from "./row.js";
import { rows } from "./rows.js";

for (const page of PAGES)
  test(`${page} has the tables that bench/results.json gives`, (t) => {
    const text = read(page);
    t.regex(text, /<!-- bench: /);
    t.is(text, withTables(text, readResults()), "npm run bench -- --stored writes them again");
  });

/** A file of the plugin with these blocks: address, instructions, runs. */
function countsFile(
  total: number,
  ...blocks: [address: number, instructions: number, runs: number][]
): Buffer {
  const bytes = Buffer.alloc(24 + 16 * 8);
  bytes.write("motecnt1");
  bytes.writeBigUInt64LE(BigInt(total), 8);
  bytes.writeUInt32LE(8, 16);
  blocks.forEach(([address, instructions, runs], i) => {
    bytes.writeUInt32LE(address, 24 + 16 * i);
    bytes.writeUInt32LE(instructions, 28 + 16 * i);
    bytes.writeBigUInt64LE(BigInt(runs), 32 + 16 * i);
  });
  return bytes;
}

test("two looks at the plugin's file differ by what ran between them", (t) => {
  const before = readCounts(countsFile(100, [0x42000000, 5, 10], [0x42000010, 50, 1]));
  const after = readCounts(countsFile(164, [0x42000000, 5, 20], [0x42000010, 50, 1], [0x42000000, 7, 2]));
  const { total, blocks } = difference(before, after);
  t.is(total, 64);
  t.deepEqual([...blocks], [[0x42000000, { instructions: 64, runs: 12 }]]);
  t.throws(() => readCounts(Buffer.alloc(64)), { message: /no file/ });
});

test("the idle share of the same time is subtracted, by the chip's ticks", (t) => {
  t.is(withoutIdle({ instructions: 10_000, ticks: 50 }, { instructions: 1000, ticks: 10 }), 5000);
  t.is(withoutIdle({ instructions: 10_000, ticks: 50 }, { instructions: 0, ticks: 0 }), 10_000);
});

/** One record of the emulator's recording: Ethernet, IPv4, TCP between these ports; `filled`: bytes behind the packet. */
function record(from: number, to: number, length: number, filled = 0, protocol = 6): Buffer {
  const frame = Buffer.alloc(14 + length + filled);
  frame.writeUInt16BE(0x0800, 12);
  frame[14] = 0x45;
  frame.writeUInt16BE(length, 16);
  frame[23] = protocol;
  frame.writeUInt16BE(from, 34);
  frame.writeUInt16BE(to, 36);
  const head = Buffer.alloc(16);
  head.writeUInt32LE(frame.length, 8);
  return Buffer.concat([head, frame]);
}

test("counts packets of a port both ways, with IP and TCP headers", (t) => {
  const wire = new Wire(4700);
  const file = Buffer.concat([
    Buffer.alloc(24),
    record(50_000, 4700, 40, 6),
    record(4700, 50_000, 140),
    record(4701, 50_000, 99),
    record(50_000, 4700, 60, 0, 17),
  ]);
  t.deepEqual(wire.read(file.subarray(0, 24 + 20)), { packets: 0, bytes: 0 });
  t.deepEqual(wire.read(file), { packets: 2, bytes: 180 });
  t.deepEqual(wire.read(Buffer.concat([file, record(4700, 50_000, 40)])), { packets: 3, bytes: 220 });
});

test("each byte that flash programs and each sector that it erases counts, and gives its life", (t) => {
  const log = new FlashLog();
  const before = log.now;
  log.take("Adding SPI flash device\nm25p80_page_program [0x55d] page program cur_addr=0x3a0000 data=0x1");
  log.take("f\nm25p80_page_program [0x55d] page program cur_addr=0x3a0001 data=0x00\n");
  log.take("m25p80_flash_erase [0x55d] offset = 0x3a0000, len = 8192\n");
  t.is(log.now.bytes, 2);
  t.deepEqual(
    [...log.now.erases],
    [
      [0x3a0000, 1],
      [0x3a1000, 1],
    ],
  );
  t.is(erased(before, log.now), 2);
  t.is(yearsOfLife(100, 10), (100_000 * 10) / 100 / 365);
  t.is(yearsOfLife(0, 10), Number.POSITIVE_INFINITY);
});

const NM = `
Name                  Value   Class        Type         Size     Line  Section

a_variable          |42001080|   D  |            OBJECT|00000004|     |.data
fxRunID             |42001000|   T  |              FUNC|00000100|     |.flash.text
memcpy              |40000400|   A  |            NOTYPE|        |     |*ABS*
_vector_table       |40380000|   T  |              FUNC|        |     |.iram0.text
_heap_start         |42002000|   B  |            NOTYPE|        |     |.bss
`;

test("instructions outside the program's functions are those of ROM and boot loader", (t) => {
  const symbols = symbolsOf(NM);
  t.deepEqual(
    [0x420010fe, 0x42001100, 0x40000404, 0x40380ffc, 0x40381000, 0x42002000].map((at) => symbols.at(at)),
    ["fxRunID", "(unknown)", "memcpy", "_vector_table", "(unknown)", "(unknown)"],
  );
  t.deepEqual(symbols.range("a_variable"), [0x42001080, 0x42001084]);
  t.is(symbols.range("_heap_start"), undefined);
  const blocks = new Map(
    [0x42001010, 0x40000100, 0x403cc700].map((address, i) => [address, { instructions: 10 ** i, runs: 1 }]),
  );
  t.is(loaderInstructions({ blocks }, symbols), 110);
});

test("a handshake is what TLS added; in a start those that were resumed are taken off", (t) => {
  const cost = (instructions: number, full: number, resumed: number) => ({
    ...{ instructions, packets: 0, bytes: 0 },
    more: { [FULL]: full, [RESUMED]: resumed, [STILL]: 5 * instructions },
  });
  const costs = { boot: cost(100, 0, 0), "tls-boot": cost(700, 3, 0), idle: cost(10, 0, 0) };
  t.is(handshakesOf(costs)["handshake-full"]?.instructions, 200);
  const known = handshakesOf({ ...costs, "tls-boot": cost(720, 1, 2), "tls-idle": cost(50, 0, 4) });
  t.is(known["handshake-resumed"]?.instructions, 10);
  t.is(known["handshake-full"]?.instructions, 600);
  const mixed = handshakesOf({ ...costs, "tls-boot": cost(720, 1, 2), "tls-idle": cost(50, 1, 4) });
  t.deepEqual(mixed, {});
});

test("the desk stands in for a wake's traffic that the chip has not shown, and is marked", (t) => {
  const rivals = { c: { wake: { packets: 17, bytes: 2000 } } };
  const desk = {
    [FIRST_WAKE]: { packets: 24, bytes: 3000, requests: 5 },
    [STEADY_WAKE]: { packets: 13, bytes: 1500, requests: 3 },
  };
  const packets = (goals: readonly Judged[]) =>
    goals.filter(({ figure }) => figure === "packets").slice(0, 3);
  const judged = packets(judgeGoals(rivals, desk));
  t.deepEqual(
    judged.map(({ mote, onDesk, missed }) => [mote, onDesk, missed]),
    [
      [13, true, false],
      [24, true, true],
      [24 + 23 * 13, true, false],
    ],
  );
  t.regex(goalTable(judged), /13 \(desk\)[^\n]+desk\n/);
  const [steady] = packets(judgeGoals({ ...rivals, mote: { "wake-steady": { packets: 15 } } }, desk));
  t.deepEqual([steady?.mote, steady?.onDesk], [15, false]);
});

test("a goal is missed beyond its bound, ok at it, and unknown without a figure", (t) => {
  const seen = "2026-01-02";
  const costs = {
    mote: {
      rpc: { packets: 5, bytes: 1000, seen },
      boot: { instructions: 22e6, more: { [LOADER]: 8e6 }, seen },
      image: { more: { bytes: 1_000_000 }, seen },
      memory: { more: { free: 180_000 }, seen },
    },
    js: {
      rpc: { packets: 4, bytes: 1000 },
      boot: { instructions: 20e6 },
      image: { more: { bytes: 500_000 } },
    },
  };
  const judged = judgeGoals(costs);
  const missed = (what: string, figure: string) =>
    judged.find((one) => one.what === what && one.figure === figure)?.missed;
  t.true(missed("two-way RPC", "packets"));
  t.false(missed("two-way RPC", "bytes"));
  t.is(missed("idle hour", "bytes"), undefined);
  // Half of the check is of what Mote's image has more.
  const start = judged.find(({ what }) => what.startsWith("start"));
  t.deepEqual([start?.mote, start?.missed], [18e6, false]);
  t.true(missed("image of the comparison program", "bytes"));
  t.false(missed("native heap free at rest", "free"));
  const lines = goalTable(judged, seen).split("\n");
  t.is(lines.length, GOALS.length + 3);
  t.is(lines.at(-1), "missed: two-way RPC (packets); image of the comparison program (bytes)");
  t.true(lines.some((line) => line.startsWith("two-way RPC") && line.endsWith("now")));
  t.true(
    goalTable(judged)
      .split("\n")
      .some((line) => line.startsWith("two-way RPC") && line.endsWith(`stored, ${seen}`)),
  );
});

const ROW = { id: 3, name: "time", target: 2 } as const;

test("a row is judged by the median of its rounds' ratios, to the limit before the alternative", (t) => {
  const judged = judge(ROW, { unit: "ms", mote: [10, 30, 20], limit: [10, 10, 10], alternative: [1, 1, 1] });
  t.like(judged, { name: "time (ms)", mote: 20, limit: 10, alternative: 1, ratio: 2, target: 2, ok: true });
  t.deepEqual(judged.spread, [1, 3]);
  t.is(judge(ROW, { unit: "ms", mote: 4, alternative: 8 }).ratio, 0.5);
  t.like(judge(ROW, { unit: "ms", mote: 4 }), { ratio: null, ok: false, spread: undefined });
  const line = { unit: "ms", mote: 3, limit: 1 };
  t.false(judge(ROW, line).ok);
  t.true(judge(ROW, { ...line, target: 3 }).ok);
  t.true(judge(ROW, { ...line, target: null }).ok);
  t.false(judge(ROW, { ...line, mote: Number.NaN }).ok);
});

test("measures subjects in turn, in alternating order, after a warm-up", async (t) => {
  const order: string[] = [];
  const subject = (name: string) => () => order.push(name);
  const figures = await inTurn(3, { a: subject("a"), b: subject("b") });
  t.is(order.join(""), "ababbaab");
  t.deepEqual(figures, { a: [3, 6, 7], b: [4, 5, 8] });
});

test("replaces the figures of a measured row, and no other", (t) => {
  const entry = (id: number, name: string, times: number): Result => {
    return {
      ...{ id, name, times, mote: 1, alternative: null, limit: null, ratio: null, target: null },
      ok: true,
    };
  };
  const before = [entry(1, "bytes", 7), entry(3, "time", 7), entry(3, "gone", 7), entry(9, "rpc", 7)];
  const after = merged(before, [entry(3, "time", 3), entry(2, "new", 3)]);
  t.deepEqual(
    after.map(({ id, name, times }) => [id, name, times]),
    [
      [1, "bytes", 7],
      [2, "new", 3],
      [3, "time", 3],
      [9, "rpc", 7],
    ],
  );
});

test("joules of a day follow from the data sheet's currents and from what was counted", (t) => {
  const [asleep] = joulesOfDay({});
  t.is(Math.round(asleep * 1000), Math.round(0.005 * 3.3 * 86_400));
  const [awake] = joulesOfDay({ wakes: [{ number: 1, instructions: 160e6 }] });
  t.is(Math.round((awake - asleep) * 1e6), Math.round(0.023 * 3.3 * 1e6));
  const [sends] = joulesOfDay({ uploads: { number: 1, networkS: 1, bytes: 54e6 / 8 } });
  const milliamps = 2 * CURRENTS.receiving[0] + CURRENTS.sending[0];
  t.is(Math.round((sends - asleep) * 1e3), Math.round(milliamps * 3.3));
  // 20 mAh a day, and what the cell loses by itself.
  const joules = 20 * 3.6 * 3.3;
  const [least, most] = daysOfCell([joules, joules]);
  t.is(Math.round(most), Math.round(2000 / (20 + (2000 * 0.01) / 30)));
  t.is(Math.round(least), Math.round(1600 / (20 + (2000 * 0.03) / 30)));
});

test("bench/README.md has the number of each row, and no other", async (t) => {
  const explained = Array.from(read("bench/README.md").matchAll(/^\| (\d+) \|/gm), ([, id]) => Number(id));
  t.deepEqual(
    explained,
    (await rows()).map(({ id }) => id),
  );
});
