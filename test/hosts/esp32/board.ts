// A simulated board: flash, NVS, boot loader, radio and time server as the SDK and ESP-IDF show
// them, on a fake clock.

import { crc32 } from "node:zlib";
import { type BoardHardware, MEMORY, TLS } from "../../../hosts/esp32/board-hardware.js";
import type { Usb, WifiFunctions } from "../../../hosts/esp32/commissioning/sdk-modules.js";
import type { Radio } from "../../../hosts/esp32/network/wifi.js";
import type { Partition } from "../../../hosts/esp32/partition.js";
import type { Domain } from "../../../hosts/esp32/store.js";
import type { BoardClock } from "../../../hosts/esp32/time-of-day.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeFlash } from "../../fakes/flash.js";
import { fakeHost } from "../../fakes/host.js";
import { FakeNet } from "../../fakes/net.js";
import { FakeSdkModules, type Visitor } from "./sdk-modules.js";

const SECTOR = 4096;
/** As in the table of partitions for 4 MB. */
const SLOT = 448 * SECTOR;
const MAGIC = 0xe9;
/** What makers of flash allow a sector at the most. */
const ERASE_MS = 400;
/** From the radio's question to the access point's answer. */
const JOIN_MS = 500;
export const BUILT = Date.UTC(2026, 0, 1) / 1000;

/** As ESP-IDF numbers an image's states. */
export const [NEW, PENDING, VALID, ABORTED] = [0, 1, 2, 4];
/** ESP-IDF's reasons why a network is not joined. */
export const [WRONG_PASSWORD, NO_NETWORK] = [15, 201];
/** ESP-IDF's reasons of a start. */
export const [POWER_ON, SOFTWARE, PANIC, TASK_WATCHDOG, DEEP_SLEEP, BROWNOUT] = [1, 3, 4, 6, 8, 9];

interface Asked {
  SSID: string;
  password?: string;
}

export class FakeRadio implements Radio {
  connection = 200;
  closed = false;
  readonly asked: Asked[];
  readonly #changed: () => void;
  /** Throw to refuse. */
  onConnect: () => void = () => {};
  scan: NonNullable<Radio["scan"]>;

  constructor(asked: Asked[], changed: () => void, near: readonly (Asked & { RSSI: number })[] = []) {
    this.asked = asked;
    this.#changed = changed;
    this.scan = ({ onFound, onComplete }) => {
      for (const { SSID, RSSI, password } of near)
        onFound({ SSID, RSSI, security: password === undefined ? "none" : "wpa2_psk" });
      onComplete();
    };
  }

  connect(options: Asked): void {
    if (this.connection === 300) throw new Error("already connecting");
    this.asked.push(options);
    this.connection = 300;
    this.onConnect();
  }

  become(connection: number): void {
    this.connection = connection;
    if (!this.closed) this.#changed();
  }

  disconnect(): void {
    this.connection = 200;
  }

  close(): void {
    this.closed = true;
  }
}

/** What survives a restart. Each start makes a `machine()` of it. */
export class FakeBoard {
  readonly clock: FakeClock;
  readonly net: FakeNet;
  slots = [new FakeFlash(SLOT, SECTOR), new FakeFlash(SLOT, SECTOR)] as const;
  readonly states: (number | undefined)[] = [undefined, undefined];
  readonly outbox = new FakeFlash(16 * SECTOR, SECTOR);
  readonly nvs = new Map<string, Map<string, Uint8Array>>();
  /** Writes of NVS that changed something. */
  nvsWrites = 0;
  running = 0;
  next = 0;
  /** ESP-IDF's reason of the next start. */
  reset = 1;
  /** Each image must begin with the byte that all of them begin with. */
  magic = true;
  /** The flash of images is encrypted. */
  encrypted = false;
  /** What the time server says next, in seconds; undefined: nothing. */
  time: number | undefined;
  readonly lines: string[] = [];
  restarts = 0;
  config: Record<string, unknown>;
  radio: FakeRadio | undefined;
  readonly joins: Asked[] = [];
  /** The Wi-Fi that was joined last. */
  joined = "";
  /** What becomes of an attempt: 0, joined; undefined, no answer; otherwise ESP-IDF's reason. */
  hears: (asked: Asked) => number | undefined = () => 0;
  /** What a scan finds. */
  near: readonly (Asked & { RSSI: number })[] = [];
  abort: ((status: unknown, exception: unknown) => void) | undefined;
  readonly modules = new FakeSdkModules();
  /** The access point, while it is open. */
  ap: { ssid: string; password: string } | undefined;
  /** The joined Wi-Fi has the access point's address too: lwIP sends its packets back. */
  overlaps = false;
  /** The chip's own USB, if it has one; `read`: somebody reads what it sends. */
  usb: { in: number[]; out: string; read: boolean } | undefined;
  /** ESP-IDF's reason of the last time that a network was not joined. */
  reason = 0;
  /** Of the authorities that were kept, the first bytes. */
  readonly trusted: string[] = [];
  /** A key that NVS does not take. */
  refused: string | undefined;
  /** Free bytes of the engine's memory. */
  room = Number.POSITIVE_INFINITY;
  /** Labels of partitions, and name spaces, that are not there. */
  missing: string[] = [];
  /** How long sectors were erased without a word to the watchdog. */
  longestUnfedMs = 0;
  /** Called while ESP-IDF checks an image that is to start next; true: it finds it unfit. */
  unfit: () => boolean = () => false;
  /**
   * Seconds since 1970 that the system's clock was set to last, and whether points are stamped by
   * them.
   */
  wall: { seconds: number; known: boolean } = { seconds: 0, known: false };
  #setAt = 0;
  /** What `mote_tls` says of the chain of the connection whose event is delivered. */
  validity = { from: 0, to: 0 };

  /** The system's clock, which certificates are judged by. */
  get system(): number {
    return this.wall.seconds + Math.floor((this.clock.now() - this.#setAt) / 1000);
  }

  constructor(config: Record<string, unknown> = {}) {
    this.clock = new FakeClock(undefined);
    this.net = new FakeNet(this.clock);
    this.config = config;
  }

  /** Asked for by the program: it sleeps since then, for so many ms. */
  sleep: { since: number; ms: number } | undefined;
  kept = new Uint8Array(512);

  /**
   * Sleeps as long as was asked for, and starts again: `fast` is how much the clock gains
   * meanwhile.
   */
  async deepSleep(fast = 0): Promise<BoardHardware> {
    const { sleep } = this;
    if (!sleep) throw new Error("it does not sleep");
    this.powerOff();
    await this.clock.advance(Math.round(sleep.ms / (1 + fast)));
    this.sleep = undefined;
    this.#slept = sleep.ms;
    return this.boot(8);
  }

  #slept = -1;
  #unfedMs = 0;
  #power = { on: true };

  /**
   * Nothing that this run still asks of flash or NVS is done, and none of its timers is due; `boot`
   * is what comes next.
   */
  powerOff(): void {
    this.#power.on = false;
  }

  /** What the boot loader does. After a deep sleep it starts the same image, whatever its state. */
  boot(reset = this.reset): BoardHardware {
    if (reset !== 8) this.#chooseSlot();
    this.reset = reset;
    // The system's clock goes on over all but a power cut.
    this.wall = { seconds: reset === 1 ? 0 : this.system, known: false };
    this.#setAt = this.clock.now();
    if (reset !== 8) this.kept.fill(0);
    if (reset !== 8) this.#slept = -1;
    this.sleep = undefined;
    this.abort = undefined;
    this.#power = { on: true };
    this.clock.setWall(undefined);
    return this.machine();
  }

  #chooseSlot(): void {
    if (this.running === this.next && this.states[this.running] === PENDING) {
      this.states[this.running] = ABORTED;
      this.next = 1 - this.running;
    }
    if (this.states[this.next] === NEW) this.states[this.next] = PENDING;
    this.running = this.next;
  }

  machine(): BoardHardware {
    const { encode, decode, digest, open } = fakeHost({ clock: this.clock, network: this.net });
    const routed: BoardHardware["open"] = (name, ...rest) =>
      open(this.overlaps && this.ap ? "nowhere.test" : name, ...rest);
    return {
      clock: this.#clock(),
      open: routed,
      trusting: (list) => {
        this.trusted.push(...list.map((der) => Buffer.from(der).toString("base64")));
        return routed;
      },
      adoptSocket: (visitor, event) => (visitor as Visitor)(event),
      digest,
      encode,
      decode,
      log: (level, line) => void this.lines.push(`${level}: ${line}`),
      idf: this.#idf(),
      storage: (name) => this.#storage(name),
      partition: (label) => this.#partition(label),
      makeRadio: (changed) => this.#radio(changed),
      askTime: (done) => void this.clock.timer(20, () => done(this.time)),
      onAbort: (hook) => {
        this.abort = hook;
      },
      built: BUILT,
      config: this.config,
    };
  }

  #clock(): BoardClock {
    const { clock } = this;
    const power = this.#power;
    const believe = (seconds: number, known: boolean): void => {
      this.wall = { seconds, known };
      this.#setAt = clock.now();
      if (known) clock.setWall(seconds * 1000);
    };
    return Object.assign(Object.create(clock), {
      now: () => clock.now(),
      wall: () => clock.wall(),
      timer: (ms: number, due: () => void) => clock.timer(ms, () => power.on && due()),
      set: (seconds: number) => believe(seconds, true),
      system: () => this.system,
      assume: (seconds: number) => believe(seconds, false),
    });
  }

  #idf(): BoardHardware["idf"] & WifiFunctions & Usb {
    let chance = 1;
    const power = this.#power;
    return {
      mote_image_state: () => this.states[this.running] ?? -1,
      mote_running_slot: () => 16 + this.running,
      mote_tls: (what) =>
        what === TLS.validFrom ? this.validity.from : what === TLS.validTo ? this.validity.to : 0,
      mote_activate: () => this.#activate(),
      mote_is_encrypted: () => Number(this.encrypted),
      mote_crc32: (bytes, from, length) => crc32(new Uint8Array(bytes, from, length)),
      mote_is_erased: (bytes, from, length) =>
        Number(new Uint8Array(bytes, from, length).every((byte) => byte === 0xff)),
      mote_can_revert: () => (this.slots[1 - this.running]?.bytes[0] === 0xff ? 0 : 1),
      esp_ota_mark_app_valid_cancel_rollback: () => {
        this.states[this.running] = VALID;
        return 0;
      },
      esp_restart: () => {
        if (power.on) this.restarts++;
      },
      mote_kept_read: (into) => new Uint8Array(into).set(this.kept),
      mote_kept_write: (from) => this.kept.set(new Uint8Array(from)),
      mote_slept: () => this.#slept,
      mote_sleep: (ms) => {
        if (power.on) this.sleep ??= { since: this.clock.now(), ms };
      },
      esp_reset_reason: () => this.reset,
      esp_efuse_mac_get_default: (into) => {
        new Uint8Array(into).set([0x24, 0x0a, 0xc4, 0, 1, 2]);
        return 0;
      },
      mote_ap_open: (ssid, password) => {
        this.ap = { ssid, password };
        return 0;
      },
      mote_ap_close: () => {
        this.ap = undefined;
        return 0;
      },
      mote_ap_overlaps: () => Number(this.overlaps),
      mote_wifi_reason: () => {
        const { reason } = this;
        this.reason = 0;
        return reason;
      },
      mote_has_room: (bytes) => (bytes <= this.room ? 1 : 0),
      mote_memory: (what) => (what === MEMORY.free ? 150_000 : what === MEMORY.leastFree ? 90_000 : 0),
      mote_chip: () => 0,
      mote_serial_send: (from, count) => this.modules.sendWhole(new Uint8Array(from.slice(0, count))),
      mote_usb_read: (into) => {
        if (!this.usb) return -1;
        const bytes = this.usb.in.splice(0, into.byteLength);
        new Uint8Array(into).set(bytes);
        return bytes.length;
      },
      mote_usb_write: (from, count) => {
        if (!this.usb?.read) return 0;
        this.usb.out += Buffer.from(from, 0, count).toString("latin1");
        return count;
      },
      esp_task_wdt_reset: () => {
        this.#unfedMs = 0;
        return 0;
      },
      esp_random: () => {
        chance = (Math.imul(chance, 1_664_525) + 1_013_904_223) >>> 0;
        return chance;
      },
    };
  }

  #storage(name: string): Domain {
    if (this.missing.includes(name)) throw new Error("1105");
    const values = this.nvs.get(name) ?? new Map<string, Uint8Array>();
    this.nvs.set(name, values);
    const power = this.#power;
    const check = (key: string): void => {
      if (!power.on) throw new Error("no power");
      if (key === "" || Buffer.byteLength(key) > 15) throw new Error("1109");
    };
    return {
      read: (key) => {
        check(key);
        return values.get(key)?.slice().buffer as ArrayBuffer | undefined;
      },
      write: (key, value) => {
        check(key);
        if (key === this.refused) throw new Error("1105");
        if (!Buffer.from(values.get(key) ?? [255]).equals(value)) this.nvsWrites++;
        values.set(key, value.slice());
      },
      delete: (key) => {
        check(key);
        values.delete(key);
      },
    };
  }

  #partition(label: string): Partition {
    if (this.missing.includes(label)) throw new Error("can't find partition");
    const flash = label === "outbox" ? this.outbox : this.slots[1 - this.running]!;
    const power = this.#power;
    const done = (step: () => boolean): void => {
      if (!power.on || !step()) throw new Error("failed");
    };
    return {
      read: (into, position) => done(() => flash.read(position, into)),
      // Encrypted flash takes blocks of 16 bytes. The queue's partition is not encrypted.
      write: (bytes, position) =>
        done(() => {
          const isWhole = position % 16 === 0 && bytes.length % 16 === 0;
          return (label === "outbox" || !this.encrypted || isWhole) && flash.write(position, bytes);
        }),
      eraseBlock: (block) => {
        this.#unfedMs += ERASE_MS;
        this.longestUnfedMs = Math.max(this.longestUnfedMs, this.#unfedMs);
        done(() => flash.erase(block * SECTOR));
      },
      status: () => ({ size: flash.size, blockLength: SECTOR }),
    };
  }

  #activate(): number {
    const slot = 1 - this.running;
    if (this.unfit() || !this.#power.on || this.states[this.running] === PENDING) return 0;
    if (this.magic && this.slots[slot]!.bytes[0] !== MAGIC) return 0;
    this.next = slot;
    this.states[slot] = NEW;
    return 1;
  }

  #radio(changed: () => void): Radio {
    const radio = new FakeRadio(this.joins, changed, this.near);
    const answer = (): void => {
      if (radio.connection !== 300) return;
      const asked = this.joins.at(-1)!;
      const reason = this.hears(asked);
      if (reason === undefined) return;
      this.reason = reason;
      if (reason === 0) this.joined = asked.SSID;
      radio.become(reason === 0 ? 500 : 200);
    };
    radio.onConnect = () => void this.clock.timer(JOIN_MS, answer);
    this.radio = radio;
    return radio;
  }
}
