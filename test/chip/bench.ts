// An emulated board beside a local platform for one case, and what cases ask of both.

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { given } from "../arguments.js";
import { CHIP, keptAt } from "./chip.js";
import {
  application,
  Board,
  DEVICE,
  imageOf,
  type LocalPlatform,
  openLocalPlatform,
  type Settings,
  TITLE,
} from "./rig.js";

/** As test/chip/app says it. */
const ACCEPTED = /chip: accepted (\d+)/;

/** From the power to the platform, on a busy machine. */
export const ONLINE_MS = 120_000;
/** A download, its checks, a restart and the confirmation. */
export const UPDATE_MS = 600_000;

/**
 * Ends a soft reset with the emulator, so that the next start begins with the power: not every
 * emulator's soft reset is to be trusted. `--soft-reset` trusts it.
 */
const BY_POWER = given("soft-reset") ? [] : ["-no-reboot"];

/**
 * Words for the emulator: the fuses of a new chip in `file`. Its boot loader restarts it by itself,
 * after it burned them.
 */
function newFuses(file: string): string[] {
  if (typeof CHIP.fuses === "string") throw new Error(CHIP.fuses);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, CHIP.fuses);
  return [
    ...["-drive", `file=${file},if=none,format=raw,id=fuses`],
    ...["-global", `driver=nvram.${CHIP.name}.efuse,property=drive,value=fuses`],
    // The first start encrypts megabytes before anything feeds the watchdog.
    ...["-global", `driver=timer.${CHIP.name}.timg,property=wdt_disable,value=true`],
  ];
}

const FIGURES = ["free", "leastFree", "largest", "stackLeft", "engineLeft"] as const;

export type Memory = Readonly<Record<(typeof FIGURES)[number], number>>;

/** The least of each figure, also of those that only some programs have. */
export const leastOf = (memories: readonly Memory[]): Memory => {
  const keys = Object.keys(memories[0] ?? {}) as (keyof Memory)[];
  return Object.fromEntries(keys.map((key) => [key, Math.min(...memories.map((one) => one[key]))])) as Memory;
};

export class Bench {
  readonly board: Board;
  readonly localPlatform: LocalPlatform;
  readonly tenant: LocalPlatform["operator"];
  /** Of packages, by version. */
  readonly #packages = new Map<string, string>();

  /**
   * A new board with this program, its power off. `soft`: the chip restarts by itself and knows
   * why; not with an update.
   */
  static async open(name: string, settings: Settings, reset: "power" | "soft" = "power"): Promise<Bench> {
    const file = keptAt("flash", `${name}.bin`);
    rmSync(file, { force: true });
    const words = settings.guarded ? newFuses(`${file}.fuses`) : reset === "power" ? BY_POWER : [];
    const board = new Board(file, words);
    board.write(await imageOf(settings));
    return new Bench(board, await openLocalPlatform());
  }

  private constructor(board: Board, place: LocalPlatform) {
    this.board = board;
    this.localPlatform = place;
    this.tenant = place.operator;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.board.off();
    await this.localPlatform.close();
  }

  async until(ms: number, what: string, reached: () => Promise<unknown> | unknown): Promise<void> {
    const late = Date.now() + ms;
    while (!(await reached())) {
      if (Date.now() > late)
        throw new Error(
          `not within ${ms / 1000} s: ${what}. The board's last lines:\n${this.board.lines.slice(-15).join("\n")}`,
        );
      await new Promise((go) => setTimeout(go, 200));
    }
  }

  async id(): Promise<string | undefined> {
    return (await this.tenant.devices.byName(DEVICE))?.id.id;
  }

  async needId(): Promise<string> {
    const id = await this.id();
    if (id === undefined) throw new Error("the platform does not know the device");
    return id;
  }

  /** A client attribute. */
  async client(key: string): Promise<unknown> {
    const id = await this.id();
    return id === undefined ? undefined : (await this.tenant.attributes.get(id, "CLIENT_SCOPE", [key]))[key];
  }

  /** The newest value of a time series. */
  async latest(key: string): Promise<unknown> {
    const id = await this.id();
    return id === undefined ? undefined : (await this.tenant.timeSeries.latest(id, [key]))[key]?.value;
  }

  ask(method: string, params: unknown = {}, timeoutMs = 20_000): Promise<unknown> {
    return this.needId().then((id) => this.tenant.rpc.twoWay(id, method, params, { timeoutMs }));
  }

  async version(): Promise<string> {
    return ((await this.ask("getStatus")) as { version: string }).version;
  }

  async failed(ms: number): Promise<string> {
    await this.until(ms, "FAILED", async () => (await this.latest("fw_state")) === "FAILED");
    return String(await this.latest("fw_error"));
  }

  /** What the board says about its memory, in bytes. Rejects if it answers with an error. */
  async memory(): Promise<Memory> {
    const answer = (await this.ask("memory")) as Memory;
    const wrong = FIGURES.filter((key) => typeof answer[key] !== "number");
    if (wrong.length > 0) throw new Error(`no ${wrong.join(", ")} in ${JSON.stringify(answer)}`);
    return answer;
  }

  /** Uploads an image, unless it is there, and assigns it. */
  async assign(version: string, bytes: Buffer): Promise<void> {
    const device = await this.tenant.devices.byName(DEVICE);
    if (!device?.deviceProfileId) throw new Error("there is no device to update");
    let id = this.#packages.get(version);
    if (id === undefined) {
      const entry = { title: TITLE, version, deviceProfileId: device.deviceProfileId.id };
      id = (await this.tenant.ota.create(entry)).id.id;
      await this.tenant.ota.upload(id, bytes, { fileName: `${version}.bin` });
      this.#packages.set(version, id);
    }
    await this.tenant.ota.assign(device.id.id, id);
  }

  async unassign(): Promise<void> {
    await this.tenant.ota.assign(await this.needId(), undefined);
  }

  /** Switches it on and waits until its telemetry arrives. */
  async online(): Promise<void> {
    this.board.on();
    await this.seen();
  }

  /** Waits for telemetry that is younger than this call. */
  async seen(ms = ONLINE_MS): Promise<void> {
    const before = this.points();
    await this.until(ms, "telemetry of the device", () => this.points() > before);
  }

  /** Time stamps of its readings at the platform. */
  points(): number {
    return this.values("temperature").length + this.values("n").length;
  }

  /** Numbers of the points that the board said it accepted. */
  accepted(): number[] {
    return this.board.lines.flatMap((line) => {
      const [, number] = ACCEPTED.exec(line) ?? [];
      return number === undefined ? [] : [Number(number)];
    });
  }

  /** Those of `accepted` that the platform never got. */
  missing(accepted = this.accepted()): number[] {
    const arrived = new Set(this.values("n").map(Number));
    return accepted.filter((number) => !arrived.has(number));
  }

  /** All values of a key, in the order of their time stamps. */
  values(key: string): unknown[] {
    const all = { startTs: 0, endTs: Number.MAX_SAFE_INTEGER, limit: 10_000_000, ascending: true };
    const found = this.localPlatform.platform.core.devices.byName(DEVICE)?.series.range(key, all) ?? [];
    return found.map(({ value }) => value);
  }
}

export { application, imageOf };
