// What the bench of the emulated chip computes from what was counted; nothing of it needs a chip.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { read, root } from "../test/architecture/tree.js";
import { difference, readCounts, withoutIdle } from "./chip/counts.js";
import { Debugger } from "./chip/debugger.js";
import { erased, FlashLog, yearsOfLife } from "./chip/flash-log.js";
import { profile } from "./chip/profile.js";
import { DERIVED, derivedOf, FULL, handshakesOf, LOADER, RESUMED, STILL } from "./chip/rows.js";
import { followWords, scriptAt, scriptFunctions } from "./chip/scripts.js";
import { loaderInstructions, partOf, readParts, readSymbols } from "./chip/symbols.js";
import { chipTable } from "./chip/table.js";
import { Wire } from "./chip/wire.js";
import { FIRST_WAKE, STEADY_WAKE } from "./desk.js";
import { GOALS, goalTable, type Judged, judgeGoals } from "./goals.js";
import { judge, merged, type Result } from "./judge.js";
import { inTurn } from "./row.js";
import { sharesOf } from "./rows/row-11-writes.js";
import { rows } from "./rows.js";

/** A file of the plugin with these blocks: address, instructions, runs. */
function countsFile(
  total: number,
  ...blocks: [address: number, instructions: number, runs: number][]
): Buffer {
  const bytes = Buffer.alloc(32 + 16 * 8);
  bytes.write("motecnt1");
  bytes.writeBigUInt64LE(BigInt(total), 8);
  bytes.writeUInt32LE(8, 16);
  blocks.forEach(([address, instructions, runs], i) => {
    bytes.writeUInt32LE(address, 32 + 16 * i);
    bytes.writeUInt32LE(instructions, 36 + 16 * i);
    bytes.writeBigUInt64LE(BigInt(runs), 40 + 16 * i);
  });
  return bytes;
}

test("two looks at the plugin's file differ by what ran between them; a block that was translated twice is one address", (t) => {
  const before = readCounts(countsFile(100, [0x42000000, 5, 10], [0x42000010, 50, 1]));
  const after = readCounts(countsFile(164, [0x42000000, 5, 20], [0x42000010, 50, 1], [0x42000000, 7, 2]));
  const { total, blocks } = difference(before, after);
  t.is(total, 64);
  t.deepEqual([...blocks], [[0x42000000, { instructions: 64, runs: 12 }]]);
  t.throws(() => readCounts(Buffer.alloc(64)), { message: /no file/ });
});

test("what the same time would have cost anyway is taken off, by the chip's ticks", (t) => {
  t.is(withoutIdle({ instructions: 10_000, ticks: 50 }, { instructions: 1000, ticks: 10 }), 5000);
  t.is(withoutIdle({ instructions: 10_000, ticks: 50 }, { instructions: 0, ticks: 0 }), 10_000);
});

test("byte code is counted by words behind the blocks", (t) => {
  const bytes = Buffer.concat([countsFile(100), Buffer.alloc(3 * 8)]);
  bytes.writeUInt32LE(0x3c000100, 24);
  bytes.writeUInt32LE(3, 28);
  const before = readCounts(bytes);
  t.is(before.code.size, 0);
  bytes.writeBigUInt64LE(70n, bytes.length - 8);
  t.deepEqual([...difference(before, readCounts(bytes)).code], [[0x3c000108, 70]]);
});

test("an address of byte code is the preloaded function's that holds it, by the engine's table in the image", (t) => {
  const tables = [
    '/* 0002 */\t{ (txSlot*)&gxHeap[1], {.ID = xsID_record, .flag = 0x8b, .kind = XS_CODE_X_KIND}, .value = { .code = { (txByte*)"\\x0c", NULL } } },',
    "/* 0003 */\t{ NULL, {.ID = xsID_other, .flag = 0x8b, .kind = XS_HOME_KIND}, .value = { .home = { NULL, NULL } }},",
    '/* 0004 */\t{ NULL, {.ID = XS_NO_ID, .flag = 0x8b, .kind = XS_CODE_X_KIND}, .value = { .code = { (txByte*)"\\x0c", NULL } } },',
  ].join("\n");
  const symbols = readSymbols(
    elfWith(["gxHeap", 0x3c000000, 0x50, 1, 6], ["fxRunID", 0x42001000, 0x100, 2, 5]),
  );
  const words = new Map([
    [0x3c000000 + 16 * 2 + 8, 0x3c002000],
    [0x3c000000 + 16 * 4 + 8, 0x3c001002],
  ]);
  const functions = scriptFunctions(tables, symbols, (address) => words.get(address));
  t.deepEqual(functions, [
    { address: 0x3c001002, name: "(nameless 0004)" },
    { address: 0x3c002000, name: "record" },
  ]);
  t.is(scriptAt(functions, 0x3c000f00), "(unknown)");
  t.is(scriptAt(functions, 0x3c001000), "(nameless 0004)");
  t.is(scriptAt(functions, 0x3c002010), "record");
  // Where tasks are switched is not known.
  t.is(followWords(functions, symbols), "");
});

test("the layout that the plugin writes is the one that is read", (t) => {
  const source = readFileSync(join(root, "bench/chip/plugin/count.c"), "utf8");
  t.regex(
    source,
    /char magic\[8\];\s+uint64_t total;\s+uint32_t places;\s+uint32_t lost;\s+uint32_t codeFrom;\s+uint32_t codeWords;/,
  );
  t.regex(source, /uint32_t address;\s+uint32_t instructions;\s+uint64_t runs;/);
  t.regex(source, /"motecnt1"/);
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

test("packets of one port are counted both ways, with the heads of IP and TCP, as the file grows", (t) => {
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

test("flash: each byte that is programmed counts, each sector that is erased; lines may come in halves", (t) => {
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
});

test("life: sectors that are erased in turn", (t) => {
  t.is(yearsOfLife(100, 10), (100_000 * 10) / 100 / 365);
  t.is(yearsOfLife(0, 10), Number.POSITIVE_INFINITY);
});

/** An ELF file with a table of symbols alone. */
function elfWith(
  ...symbols: [name: string, address: number, bytes: number, type: number, section: number][]
): Buffer {
  const names = Buffer.from(`\0${symbols.map(([name]) => `${name}\0`).join("")}`);
  const table = Buffer.alloc(16 * symbols.length);
  symbols.forEach(([name, address, bytes, type, section], i) => {
    table.writeUInt32LE(names.indexOf(`\0${name}\0`) + 1, 16 * i);
    table.writeUInt32LE(address, 16 * i + 4);
    table.writeUInt32LE(bytes, 16 * i + 8);
    table[16 * i + 12] = type;
    table.writeUInt16LE(section, 16 * i + 14);
  });
  const head = Buffer.alloc(52);
  head.writeUInt32BE(0x7f454c46, 0);
  head[4] = 1;
  head[5] = 1;
  head.writeUInt32LE(52 + table.length + names.length, 32);
  head.writeUInt16LE(40, 46);
  head.writeUInt16LE(2, 48);
  const sections = Buffer.alloc(80);
  sections.writeUInt32LE(2, 4);
  sections.writeUInt32LE(52, 16);
  sections.writeUInt32LE(table.length, 20);
  sections.writeUInt32LE(1, 24);
  sections.writeUInt32LE(52 + table.length, 40 + 16);
  return Buffer.concat([head, table, names, sections]);
}

test("an address is the function's that holds it; what no function holds is nobody's", (t) => {
  const symbols = readSymbols(
    elfWith(
      ["fxRunID", 0x42001000, 0x100, 2, 5],
      ["xTaskIncrementTick", 0x40380000, 0x40, 2, 4],
      ["rom_memcpy", 0x40000100, 0, 0, 0xfff1],
      ["a_variable", 0x42001080, 4, 1, 6],
    ),
  );
  t.is(symbols.at(0x42001000), "fxRunID");
  t.is(symbols.at(0x420010fe), "fxRunID");
  t.is(symbols.at(0x42001100), "(unknown)");
  t.is(symbols.at(0x40000120), "rom_memcpy");
  t.is(symbols.address("xTaskIncrementTick"), 0x40380000);
  t.is(symbols.address("nothing"), undefined);
  t.throws(() => readSymbols(Buffer.alloc(64)));
});

test("the part of an address is said by the linker's map, a long name on a line of its own", (t) => {
  const at = readParts(
    [
      " .text.fxRunID  0x42001000    0x100 /b/xs_esp32c3.a(xsRun.c.o)",
      " .text.a_name_that_is_longer_than_a_column",
      "                0x42001100     0x40 esp-idf/lwip/liblwip.a(tcp.c.obj)",
      " .text.mbedtls_mpi 0x42001140 0x20 esp-idf/mbedtls/libmbedcrypto.a(bignum.c.obj)",
    ].join("\n"),
  );
  t.is(at(0x42001004), "XS core");
  t.is(at(0x42001100), "lwIP and network");
  t.is(at(0x42001150), "TLS");
  t.is(at(0x42001170), "ESP-IDF");
  t.is(at(0x40000100), "ROM");
  t.is(partOf("esp-idf/nvs_flash/libnvs_flash.a(nvs_page.cpp.obj)"), "flash and NVS");
});

test("a profile is of one piece of work, without the idle time's share of each function", (t) => {
  const symbols = {
    address: () => undefined,
    range: () => undefined,
    at: (address: number) => (address < 20 ? "work" : "tick"),
  };
  const counts = (...blocks: [number, number][]) => ({
    total: 0,
    blocks: new Map(blocks.map(([address, instructions]) => [address, { instructions, runs: 1 }])),
    code: new Map(blocks),
  });
  const spent = { instructions: 1000, ticks: 20, counts: counts([10, 800], [30, 200]) };
  const idle = { instructions: 100, ticks: 10, counts: counts([30, 100]) };
  const { functions, scripts } = profile(
    spent,
    idle,
    4,
    symbols,
    () => "all",
    (at) => (at < 20 ? "record" : "poll"),
  );
  t.deepEqual(functions, [
    { name: "work", instructions: 200 },
    { name: "tick", instructions: 0 },
  ]);
  t.deepEqual(scripts, [
    { name: "record", instructions: 200 },
    { name: "poll", instructions: 0 },
  ]);
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

test("a day of points is erased sectors and years, of the sectors that a program has", (t) => {
  const costs = { "durable-batch": { flashBytes: 50, erases: 1 / 80 } };
  const { day } = derivedOf("mote", costs);
  t.is(day?.flashBytes, 4_320_000);
  t.is(day?.erases, 1080);
  t.is(day?.more?.["years of life"], (100_000 * 64) / 1080 / 365);
  t.is(derivedOf("c", costs).day?.more?.["years of life"], (100_000 * 6) / 1080 / 365);
  t.deepEqual(derivedOf("c", {}), {});
  t.regex(chipTable(DERIVED, { mote: derivedOf("mote", costs) }), /50 a POST: sectors erased +1,080/);
});

test("a battery's day is a first wake and 23 steady ones; others wake as after power-on each time", (t) => {
  const cost = (packets: number) => ({ packets, bytes: 10 * packets, instructions: 100 * packets });
  const costs = { wake: cost(24), "wake-steady": cost(13) };
  const { "battery-day": day } = derivedOf("mote", costs);
  t.deepEqual([day?.packets, day?.bytes], [24 + 23 * 13, 10 * (24 + 23 * 13)]);
  t.is(derivedOf("c", { wake: cost(17) })["battery-day"]?.packets, 24 * 17);
  t.deepEqual(derivedOf("mote", { wake: cost(24) }), {});
});

test("what ran outside the program is the ROM's and the boot loader's", (t) => {
  const symbols = readSymbols(elfWith(["work", 0x42001000, 0x100, 2, 5]));
  const blocks = new Map(
    [0x42001010, 0x40000100, 0x403cc700].map((address, i) => [address, { instructions: 10 ** i, runs: 1 }]),
  );
  t.is(loaderInstructions({ blocks }, symbols), 110);
});

test("the debugger reads and writes memory and stops at an address until it is told to stop", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "mote-gdb-"));
  const path = join(folder, "gdb");
  const asked: string[] = [];
  let stops = 2;
  const server = createServer((socket) => {
    const reply = (text: string): unknown => socket.write(`+$${text}#00`);
    socket.setEncoding("latin1").on("data", (text: string) => {
      if (text === "\x03") reply("T02");
      for (const [, command = ""] of text.matchAll(/\$([^#]*)#/g)) {
        asked.push(command);
        if (command.startsWith("m")) reply("0a0b".repeat(256));
        else if (command === "p1") reply("78563412");
        else if (command !== "c") reply("OK");
        else if (stops-- > 0) reply("T05");
      }
    });
  }).listen(path);
  t.teardown(() => {
    server.close();
    rmSync(folder, { recursive: true });
  });
  const debug = await Debugger.open(path);
  t.is((await debug.read(0x50000000, 1024)).length, 1024);
  await debug.write(0x50000000, Buffer.from([1, 2]));
  t.is(await debug.register(1), 0x12345678);
  let times = 0;
  await debug.run(0x40000018, async () => {
    times++;
    await debug.register(32, 0x40);
  });
  const commands = ["m50000000,200", "m50000200,200", "M50000000,2:0102", "p1", "Z0,40000018,2"];
  commands.push("c", "P20=40000000", "c", "P20=40000000", "c");
  while (asked.length < commands.length) await new Promise((go) => setTimeout(go, 5));
  await debug.stop();
  t.is(times, 2);
  // The same while the chip stands at the address: nothing is interrupted.
  stops = 1;
  let stopped: Promise<void> | undefined;
  await debug.run(undefined, async () => {
    stopped = debug.stop();
  });
  while (!stopped) await new Promise((go) => setTimeout(go, 5));
  await stopped;
  debug.close();
  t.deepEqual(asked, [...commands, "c"]);
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

const row = { id: 3, name: "time", target: 2, better: "less" } as const;

test("the ratio is the median of the rounds' ratios, and its least and most are given", (t) => {
  const judged = judge(row, { unit: "ms", mote: [10, 30, 20], limit: [10, 10, 10], alternative: [1, 1, 1] });
  t.is(judged.name, "time (ms)");
  t.deepEqual(
    [judged.mote, judged.limit, judged.alternative, judged.ratio, judged.target, judged.ok],
    [20, 10, 1, 2, 2, true],
  );
  t.deepEqual(judged.spread, [1, 3]);
});

test("without a limit the ratio is to the alternative, without both Mote's figure has the target", (t) => {
  t.is(judge(row, { unit: "ms", mote: 4, alternative: 8 }).ratio, 0.5);
  const alone = judge(row, { unit: "ms", mote: 4 });
  t.deepEqual([alone.ratio, alone.ok, alone.spread], [null, false, undefined]);
});

test("a target holds as least or as most, and null is given beside", (t) => {
  const line = { unit: "ms", mote: 3, limit: 1 };
  t.false(judge(row, line).ok);
  t.true(judge({ ...row, better: "more" }, line).ok);
  t.true(judge(row, { ...line, target: 3 }).ok);
  t.true(judge(row, { ...line, target: null }).ok);
  t.false(judge(row, { ...line, mote: Number.NaN }).ok);
});

test("subjects are measured in turn, every other round the other way round, after one run unmeasured", async (t) => {
  const order: string[] = [];
  const subject = (name: string) => () => order.push(name);
  const figures = await inTurn(3, { a: subject("a"), b: subject("b") });
  t.is(order.join(""), "ababbaab");
  t.deepEqual(figures, { a: [3, 6, 7], b: [4, 5, 8] });
});

test("what was measured takes the place of its row's figures, each row whole, and leaves the others", (t) => {
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

// What the rows look at is looked at: a row that can't see a fault shows nothing.

const HEAD = "POST /api/v1/t/telemetry HTTP/1.1\r\nContent-Length: 4\r\n\r\n";
const GET = "GET /api/v1/t/rpc HTTP/1.1\r\nHost: a\r\n\r\n";
const writes = (...texts: string[]) => texts.map((text) => Buffer.from(text));

test("a request in two writes, and a head that leaves alone, are seen", (t) => {
  const shares = (...texts: string[]) => sharesOf([writes(...texts)]);
  t.deepEqual(shares(`${HEAD}body`, GET), { requests: 2, whole: 2, notHeadAlone: 2 });
  t.deepEqual(shares(`${HEAD}bo`, "dy", GET), { requests: 2, whole: 1, notHeadAlone: 2 });
  t.deepEqual(shares(HEAD, "body", GET), { requests: 2, whole: 1, notHeadAlone: 1 });
  t.deepEqual(shares(HEAD.slice(0, 20), HEAD.slice(20), "body"), { requests: 1, whole: 0, notHeadAlone: 0 });
  t.deepEqual(shares(GET.slice(0, 20), GET.slice(20)), { requests: 1, whole: 0, notHeadAlone: 1 });
});

test("bench/README.md has the number of each row, and no other", async (t) => {
  const explained = Array.from(read("bench/README.md").matchAll(/^\| (\d+) \|/gm), ([, id]) => Number(id));
  t.deepEqual(
    explained,
    (await rows()).map(({ id }) => id),
  );
});
