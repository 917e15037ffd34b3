// A board's own program on the simulator's engine: hosts/esp32 whole, with a serial line that leads to the test and a radio that knows one Wi-Fi.
import files from "embedded:storage/files";
import { createHost, type SimulatorHost } from "mote-simulator";
import type { Machine } from "../../../../hosts/esp32/board-hardware.js";
import { commissionBy } from "../../../../hosts/esp32/commissioning/configuration.js";
import type { AccessPoint, SdkModules, Usb } from "../../../../hosts/esp32/commissioning/sdk-modules.js";
import type { Radio } from "../../../../hosts/esp32/network/wifi.js";
import { startBoard } from "../../../../hosts/esp32/start.js";
import type { Clock } from "../../../../src/port.js";

interface Setup {
  /** Where the test listens: the other end of the serial line. */
  readonly cable: number;
  readonly wifi: readonly [ssid: string, password: string];
  readonly config: Readonly<Record<string, unknown>>;
}

const PIECE = 64;
/** Of ESP-IDF. */
const [WRONG_PASSWORD, NO_NETWORK, POWER_ON] = [15, 201, 1];
const CHIP_C3 = 5;
const JOIN_MS = 300;

/** Takes bytes at once and in order, as a line does that is waited for. */
class Cable {
  received: (bytes: Uint8Array) => void = () => {};
  readonly #waiting: Uint8Array[] = [];
  readonly #line;

  constructor(host: SimulatorHost, port: number, opened: () => void) {
    const into = new Uint8Array(PIECE);
    this.#line = host.open("127.0.0.1", port, false, (what) => {
      if (what === "opened") opened();
      for (let count = this.#line.read(into); count > 0; count = this.#line.read(into))
        this.received(into.slice(0, count));
      if (what !== "closed") this.#flush();
    });
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  send(bytes: Uint8Array): void {
    this.#waiting.push(bytes);
    this.#flush();
  }

  #flush(): void {
    for (let first = this.#waiting[0]; first; first = this.#waiting[0]) {
      const count = this.#line.write(first);
      if (count < first.length) {
        this.#waiting[0] = first.subarray(count);
        return;
      }
      this.#waiting.shift();
    }
  }
}

/** Hears two networks, and joins one of them by its password. */
class Air {
  reason = 0;
  readonly #clock: Clock;
  readonly #wifi: Setup["wifi"];

  constructor(clock: Clock, wifi: Setup["wifi"]) {
    this.#clock = clock;
    this.#wifi = wifi;
  }

  radio(changed: () => void): Radio {
    let connection = 200;
    const become = (now: number): void => {
      connection = now;
      changed();
    };
    return {
      get connection() {
        return connection;
      },
      connect: ({ SSID, password }) => {
        connection = 300;
        const [ssid, secret] = this.#wifi;
        this.#clock.timer(JOIN_MS, () => {
          this.reason = SSID !== ssid ? NO_NETWORK : password === secret ? 0 : WRONG_PASSWORD;
          become(this.reason === 0 ? 500 : 200);
        });
      },
      disconnect: () => {
        connection = 200;
      },
      scan: ({ onFound, onComplete }) => {
        onFound({ SSID: this.#wifi[0], RSSI: -48, security: "wpa2_psk" });
        onFound({ SSID: "guests", RSSI: -71, security: "none" });
        onComplete();
      },
      close: () => {},
    };
  }
}

function machineOn(host: SimulatorHost, cable: Cable, air: Air, config: Setup["config"]): Machine {
  const { clock, open, digest, encode, decode } = host;
  const none = (): never => {
    throw new Error("not in the simulator");
  };
  const idf: Partial<Machine["idf"] & AccessPoint & Usb> = {
    mote_memory: () => 0,
    mote_image_state: () => -1,
    mote_chip: () => CHIP_C3,
    mote_ap_open: () => 0,
    mote_ap_close: () => 0,
    mote_wifi_reason: () => {
      const { reason } = air;
      air.reason = 0;
      return reason;
    },
    mote_serial_flow: () => 0,
    mote_serial_send: (from, count) => cable.send(new Uint8Array(from.slice(0, count))),
    mote_usb_read: () => -1,
    esp_reset_reason: () => POWER_ON,
    esp_get_free_heap_size: () => 150_000,
    esp_get_minimum_free_heap_size: () => 90_000,
    esp_efuse_mac_get_default: (into) => {
      new Uint8Array(into).set([0x24, 0x0a, 0xc4, 0, 1, 2]);
      return 0;
    },
    esp_random: () => {
      const word = new Uint8Array(4);
      host.random(word);
      return new DataView(word.buffer).getUint32(0);
    },
    esp_task_wdt_reset: () => 0,
    esp_restart: () => {
      if (cable.isEmpty) host.restart("");
      else clock.timer(20, () => idf.esp_restart?.());
    },
  };
  return {
    clock: {
      now: () => clock.now(),
      wall: () => clock.wall(),
      timer: (ms, due) => clock.timer(ms, due),
      set: () => {},
      system: () => 0,
      assume: () => {},
    },
    ...{ open, digest, encode, decode, config },
    trusting: () => open,
    adoptSocket: none,
    // On the line that Improv has too.
    log: (level, line) => cable.send(encode(`${level}: ${line}\r\n`)),
    idf: idf as Machine["idf"],
    storage: (name) => ({
      read: (key) => host.store.get(`${name.length}${key}`)?.slice().buffer as ArrayBuffer | undefined,
      write: (key, value) => {
        if (!host.store.set(`${name.length}${key}`, value)) throw new Error("full");
      },
      delete: (key) => void host.store.delete(`${name.length}${key}`),
    }),
    partition: none,
    makeRadio: (changed) => air.radio(changed),
    askTime: (done) => done(undefined),
    onAbort: () => {},
    built: 0,
  };
}

function begin({ cable: port, wifi, config }: Setup): void {
  const host = createHost(files, { log: () => {} });
  const start = (): void => {
    const machine = machineOn(host, cable, new Air(host.clock, wifi), config);
    const modules: SdkModules = {
      listen: () => () => {},
      datagrams: () => () => {},
      serial: (_pins, received) => {
        cable.received = received;
        return { write: (bytes) => cable.send(bytes), close: () => {} };
      },
      pin: () => ({ read: () => 1 }),
    };
    startBoard(machine, (agent) => agent.telemetry.record({ n: 1 }), {
      commission: (made, through, go) => commissionBy(modules, made, through, go),
    });
  };
  // As a computer's end of the cable is there before the board starts.
  const cable = new Cable(host, port, start);
}

const file = files.openFile({ path: "board.json" });
const bytes = new Uint8Array(file.status().size);
file.read(bytes, 0);
file.close();
begin(JSON.parse(String.fromArrayBuffer(bytes.buffer)));
