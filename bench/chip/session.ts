// One program on the emulated chip, beside a local platform: everything that it does is counted.
import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { CHIP } from "../../test/chip/chip.js";
import { NETWORK } from "../../test/chip/emulator.js";
import { authority, Board, DEVICE, PORT, PROFILE, SECURE_PORT, TITLE } from "../../test/chip/rig.js";
import { tlsFront } from "../../test/hosts/device/tls-front.js";
import { Operator } from "../../tools/operator/operator.js";
import type { Device } from "../../tools/platform/core/devices.js";
import { type Platform, startPlatform } from "../../tools/platform/server.js";
import { PROJECT } from "../../tools/project.js";
import { type Counts, difference, type Idle, lookAtCounts, lookAtTotal } from "./counts.js";
import { Debugger } from "./debugger.js";
import { erased, FLASH_TRACE, FlashLog, type Writes } from "./flash-log.js";
import type { Built } from "./programs.js";
import { readSymbols, type Symbols } from "./symbols.js";
import { type Traffic, Wire } from "./wire.js";

const FOLDER = join(PROJECT, "build", "chip", "bench");
/** Called once for each tick of the system's clock. */
const TICK = "xTaskIncrementTick";
/** What does not return. */
const SLEEP = "esp_deep_sleep_start";
/** Memory that outlives a deep sleep. */
const RTC_MEMORY = { at: 0x50000000, bytes: 0x2000 } as const;
/** The emulator knows no deep sleep: the ROM's answer is replaced. */
const RESET_REASON = { asked: "esp_rom_get_reset_reason", deepSleep: 5 } as const;
/** Numbers of a RISC-V's registers. */
const [RA, A0, PC] = [1, 10, 32] as const;
/** Mote's: when the sleep began, by a clock that the emulator starts again at 0. */
const ASLEEP_SINCE = "asleep_since";
const SLEPT_US = 60_000_000n;
/** What all three programs can do. */
const TLS = "TLSv1.2";
const ONLINE_MS = 120_000;
const ALL = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 10_000_000, ascending: true };

/** What was counted up to a moment. */
export interface Look {
  readonly counts: Counts;
  readonly wire: Traffic;
  readonly flash: Writes;
  readonly points: number;
}

/** Between two looks. */
export interface Spent extends Idle {
  readonly counts: Counts;
  readonly packets: number;
  readonly bytes: number;
  readonly flashBytes: number;
  readonly erases: number;
  readonly points: number;
}

export class Session {
  readonly board: Board;
  readonly symbols: Symbols;
  readonly #platform: Platform;
  readonly #operator: Operator;
  readonly #device: Device;
  readonly #close: () => Promise<void>;
  readonly #files: Readonly<Record<"counts" | "wire" | "log" | "debug", string>>;
  readonly #port: number;
  #debugger: Debugger | undefined;
  #hasMemory = false;
  #wire: Wire;
  #flash = new FlashLog();
  #logged = 0;
  readonly #tick: number;
  readonly #sleep: number | undefined;

  /**
   * A new board with this program, its power on, and a platform that knows it. `plugin`: see
   * compilePlugin. `sleeps`: its memory is read while it sleeps.
   */
  static async open(
    name: string,
    built: Built,
    secure: boolean,
    plugin: string,
    sleeps: boolean,
  ): Promise<Session> {
    mkdirSync(FOLDER, { recursive: true });
    const file = (end: string): string => join(FOLDER, `${name}.${end}`);
    const files = {
      ...{ flash: file("bin"), counts: file("counts"), wire: file("pcap"), log: file("trace") },
      debug: file("gdb"),
    };
    for (const path of Object.values(files)) rmSync(path, { force: true });
    const platform = await startPlatform({ port: PORT, profile: PROFILE });
    const { core } = platform;
    const fields = { name: DEVICE, profileId: core.profiles.default.id };
    const { TOKEN } = await import("./programs.js");
    const device = core.createDevice(fields, TOKEN);
    const operator = new Operator({ url: platform.url });
    const login = (): Promise<void> => operator.login("tenant@thingsboard.org", "tenant");
    await login().catch(login);
    const front = await tlsFront(authority(), PORT, SECURE_PORT, TLS);
    const symbols = readSymbols(built.elf);
    const board = new Board(
      files.flash,
      [
        ...["-plugin", `${plugin},counts=${files.counts}`],
        ...["-object", `filter-dump,id=dump,netdev=${NETWORK},file=${files.wire}`],
        ...["-D", files.log, ...FLASH_TRACE],
        ...(sleeps ? Debugger.words(files.debug) : []),
        // The chip restarts into a new image: not every emulator's soft reset is to be trusted.
        "-no-reboot",
      ],
      false,
    );
    board.write(built.image);
    const close = async (): Promise<void> => {
      await board.off();
      front.close();
      await platform.close();
    };
    const tick = symbols.range(TICK)?.[0];
    if (tick === undefined) throw new Error(`there is no ${TICK} in ${built.elf}`);
    const sleep = symbols.range(SLEEP)?.[0];
    const session = new Session({
      board,
      platform,
      operator,
      device,
      close,
      files,
      tick,
      sleep,
      secure,
      symbols,
    });
    board.on();
    if (sleeps) await session.#debug();
    return session;
  }

  private constructor(parts: {
    board: Board;
    platform: Platform;
    operator: Operator;
    device: Device;
    close: () => Promise<void>;
    files: Readonly<Record<"counts" | "wire" | "log" | "debug", string>>;
    symbols: Symbols;
    tick: number;
    sleep: number | undefined;
    secure: boolean;
  }) {
    this.board = parts.board;
    this.#platform = parts.platform;
    this.#operator = parts.operator;
    this.#device = parts.device;
    this.#close = parts.close;
    this.#files = parts.files;
    this.#tick = parts.tick;
    this.#sleep = parts.sleep;
    this.symbols = parts.symbols;
    this.#port = parts.secure ? SECURE_PORT : PORT;
    this.#wire = new Wire(this.#port);
  }

  close(): Promise<void> {
    this.#debugger?.close();
    return this.#close();
  }

  /** Lets the chip start. `memory`: what outlived its sleep. */
  async #debug(memory?: Buffer): Promise<void> {
    let debug: Debugger | undefined;
    await this.until("the debugger", async () => {
      debug = await Debugger.open(this.#files.debug).catch(() => undefined);
      return debug;
    });
    this.#debugger = debug!;
    const asked = memory && this.symbols.range(RESET_REASON.asked)?.[0];
    if (!memory) return this.#debugger.run();
    if (asked === undefined || CHIP.name !== "esp32c3")
      throw new Error(`a wake after a sleep can't be shown on the emulated ${CHIP.name}`);
    await this.#debugger.run(asked, () => this.#answerAfterSleep(memory));
  }

  /** In place of the ROM, which does not know of the sleep. */
  async #answerAfterSleep(memory: Buffer): Promise<void> {
    const debug = this.#debugger!;
    // After the ROM's start, before the boot loader looks at it.
    if (!this.#hasMemory) await debug.write(RTC_MEMORY.at, memory);
    this.#hasMemory = true;
    await debug.register(A0, RESET_REASON.deepSleep);
    await debug.register(PC, await debug.register(RA));
  }

  /** Ends the sleep, as its timer does. `change`: of Mote's state for the next wake. */
  async wakeUp(change: (kept: string) => string = (kept) => kept): Promise<void> {
    await this.#debugger!.stop();
    const memory = await this.#debugger!.read(RTC_MEMORY.at, RTC_MEMORY.bytes);
    this.#debugger!.close();
    await this.board.off();
    const since = this.symbols.range(ASLEEP_SINCE)?.[0];
    if (since !== undefined) memory.writeBigInt64LE(-SLEPT_US, since - RTC_MEMORY.at);
    const [from, to] = this.symbols.range("kept") ?? [];
    if (from !== undefined && to !== undefined) {
      const place = memory.subarray(from - RTC_MEMORY.at, to - RTC_MEMORY.at);
      const text = change(place.toString("latin1", 0, place.indexOf(0)));
      place.fill(0).write(text, "latin1");
    }
    const { counts, wire, log, debug } = this.#files;
    for (const path of [counts, wire, log, debug]) rmSync(path, { force: true });
    this.#wire = new Wire(this.#port);
    this.#flash = new FlashLog();
    this.#logged = 0;
    this.#hasMemory = false;
    this.board.on();
    await this.#debug(memory);
  }

  /** Instructions since the power came. */
  get total(): number {
    return existsSync(this.#files.counts) ? lookAtTotal(this.#files.counts) : 0;
  }

  /** It is in its deep sleep. Before the first instruction there may be a file without a head. */
  get asleep(): boolean {
    return (
      this.#sleep !== undefined && this.total > 0 && lookAtCounts(this.#files.counts).blocks.has(this.#sleep)
    );
  }

  /** Points that arrived. */
  get points(): number {
    return this.#device.series.range("temperature", ALL).length;
  }

  /** Throws if the chip is off: nothing here restarts it but what is measured. */
  look(): Look {
    if (!this.board.isOn) throw new Error(`the chip restarted: ${this.#lastLines()}`);
    const { counts, wire, log } = this.#files;
    if (existsSync(log) && statSync(log).size > this.#logged) {
      const bytes = readFileSync(log).subarray(this.#logged);
      this.#logged += bytes.length;
      this.#flash.take(bytes.toString("latin1"));
    }
    return {
      counts: lookAtCounts(counts),
      wire: this.#wire.read(readFileSync(wire)),
      flash: this.#flash.now,
      points: this.points,
    };
  }

  since(before: Look, after: Look = this.look()): Spent {
    const counts = difference(before.counts, after.counts);
    return {
      counts,
      instructions: counts.total,
      ticks: counts.blocks.get(this.#tick)?.runs ?? 0,
      packets: after.wire.packets - before.wire.packets,
      bytes: after.wire.bytes - before.wire.bytes,
      flashBytes: after.flash.bytes - before.flash.bytes,
      erases: erased(before.flash, after.flash),
      points: after.points - before.points,
    };
  }

  async until(what: string, reached: () => unknown, ms = ONLINE_MS, everyMs = 20): Promise<void> {
    const late = Date.now() + ms;
    while (!(await reached())) {
      if (Date.now() > late) throw new Error(`not within ${ms / 1000} s: ${what}. ${this.#lastLines()}`);
      await wait(everyMs);
    }
  }

  #lastLines(): string {
    return `The board's last lines:\n${this.board.lines.slice(-15).join("\n")}`;
  }

  ask(method: string, params: unknown = {}, timeoutMs = 20_000): Promise<unknown> {
    return this.#operator.rpc.twoWay(this.#device.id, method, params, { timeoutMs });
  }

  /** Assigns an image to the device. */
  async assign(version: string, file: string): Promise<void> {
    const entry = { title: TITLE, version, deviceProfileId: this.#device.profileId };
    const { id } = await this.#operator.ota.create(entry);
    await this.#operator.ota.upload(id.id, readFileSync(file), { fileName: `${version}.bin` });
    await this.#operator.ota.assign(this.#device.id, id.id);
  }

  /** The newest value of a time series. */
  latest(key: string): unknown {
    return this.#device.series.range(key, ALL).at(-1)?.value;
  }
}

export const wait = (ms: number): Promise<void> => new Promise((go) => setTimeout(go, ms));
