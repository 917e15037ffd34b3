import { pinAll, pinStored, ROOM_BYTES, SecretRedactor } from "../../src/board-module.js";
import type { ByteLoops, Host, LastRun, Redactor } from "../../src/port.js";
import { type BoardHardware, type Idf, MEMORY } from "./board-hardware.js";
import { CrashRecord, FULL, RESET } from "./crash-record.js";
import { type Partition, PartitionBlocks } from "./partition.js";
import { OtaSlot } from "./slot.js";
import { AGENT, type Domain, NvsStore, OWN } from "./store.js";

/** Label of the partition with the durable queue. */
const OUTBOX = "outbox";
/** Longer than any request: what it held is free again by then. */
const SHORT_MS = 60_000;

export interface BoardHost extends Host {
  readonly redactor: Redactor;
  readonly lastRun: LastRun;
  /** Values of the host itself. */
  readonly own: NvsStore;
  /** Format: "aabbccddeeff". */
  readonly mac: string;
  /** Call at the end of a wake: if requests wait for memory, the run ends as a crash. */
  endIfShort(): void;
  /** Free bytes of the system's heap, PSRAM not counted. */
  freeMemory(): number;
  /** Minimum since the start. */
  leastFreeMemory(): number;
}

/**
 * The port on a board. A missing part is logged and the board starts without it, so that it can be
 * repaired remotely.
 */
export const createHost = (machine: BoardHardware): BoardHost => {
  const { clock, open, digest, encode, decode, idf } = machine;
  const redactor = new SecretRedactor();
  const log: Host["log"] = (level, line) => machine.log(level, redactor.clean(line));
  const own = new NvsStore(storage(machine, OWN), machine);
  const crashRecord = new CrashRecord(own, machine);
  const lastRun = lastRunOf(machine, crashRecord);
  machine.onAbort((status, exception) => {
    crashRecord.crashed(status, exception, (text) => redactor.clean(text));
    // Restart here, not in the engine: after this hook, SDK 8.2.3 reads the missing exception,
    // which throws again and calls the hook until its stack is full.
    idf.esp_restart();
  });
  const mac = macOf(idf);
  const store = new NvsStore(storage(machine, AGENT), machine);
  pinAll(machine.config, redactor);
  pinStored({ store, decode }, redactor);
  return {
    clock,
    store,
    blocks: new PartitionBlocks(partition(machine, OUTBOX), () => idf.esp_task_wdt_reset()),
    slot: new OtaSlot(partition(machine, "nextota"), idf),
    open,
    digest,
    encode,
    decode,
    loops: loopsOf(idf),
    ...roomOf(machine, (cause) => {
      crashRecord.crashed(cause, undefined);
      idf.esp_restart();
    }),
    random: (into) => randomFill(into, idf),
    hardwareId: mac,
    log,
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    restart(reason) {
      log("info", `restart: ${reason}`);
      crashRecord.restarting();
      idf.esp_restart();
    },
    lastRun,
    own,
    mac,
    freeMemory: () => idf.mote_memory(MEMORY.free),
    leastFreeMemory: () => idf.mote_memory(MEMORY.leastFree),
  };
};

/**
 * `hasRoom` of the port. An application that leaves too little memory for requests would keep its
 * board out of reach. So after a minute of it, or at the end of a wake, the run ends as a crash,
 * and repeated crashes lead to recovery mode.
 */
const roomOf = (
  { clock, idf }: BoardHardware,
  end: (cause: string) => void,
): Required<Pick<BoardHost, "hasRoom" | "endIfShort">> => {
  let shortSince: number | undefined;
  return {
    hasRoom(bytes) {
      const hasRoom = idf.mote_has_room(bytes) !== 0;
      // Only what every request needs: a large one may be refused while others are answered.
      if (bytes > ROOM_BYTES) return hasRoom;
      if (hasRoom) shortSince = undefined;
      else shortSince ??= clock.now();
      if (shortSince !== undefined && clock.now() - shortSince >= SHORT_MS)
        end(`${FULL}: requests waited for a minute`);
      return hasRoom;
    },
    endIfShort() {
      if (shortSince !== undefined) end(`${FULL}: requests waited until the end of the wake`);
    },
  };
};

const loopsOf = (idf: Idf): ByteLoops => ({
  crc32: (bytes, from, to) => idf.mote_crc32(bytes.buffer, bytes.byteOffset + from, to - from),
  isErased: (bytes, from) =>
    idf.mote_is_erased(bytes.buffer, bytes.byteOffset + from, bytes.length - from) === 1,
});

/** Call before the time is set. */
const lastRunOf = ({ idf, config }: BoardHardware, crashRecord: CrashRecord): LastRun => {
  const reason = idf.esp_reset_reason();
  const { reset, crash } = crashRecord.ending(reason);
  const isWake = reason === RESET.deepSleep;
  return {
    reset,
    crash,
    interrupted: crash === false && reason !== RESET.software && !isWake,
    powered: reason === RESET.powerOn && config.powerCycles !== false,
    sleptMs: isWake ? Math.max(0, idf.mote_slept()) : undefined,
  };
};

const partition = (machine: BoardHardware, label: string): Partition | undefined => {
  try {
    return machine.partition(label);
  } catch {
    machine.log("error", `no partition "${label}": use the partition table of hosts/esp32`);
    return undefined;
  }
};

/** Without NVS nothing is stored: the device provisions again at each start. */
const storage = (machine: BoardHardware, name: string): Domain => {
  try {
    return machine.storage(name);
  } catch {
    machine.log("error", `no namespace "${name}" in NVS: nothing is stored`);
    const fail = (): never => {
      throw new Error("no NVS");
    };
    return { read: () => undefined, write: fail, delete: () => {} };
  }
};

const macOf = (idf: Idf): string => {
  const bytes = new Uint8Array(6);
  idf.esp_efuse_mac_get_default(bytes.buffer);
  let mac = "";
  for (const byte of bytes) mac += byte.toString(16).padStart(2, "0");
  return mac;
};

/** Random once the radio is on. */
export const randomFill = (into: Uint8Array, idf: Pick<Idf, "esp_random">): void => {
  for (let at = 0; at < into.length; at += 4) {
    let word = idf.esp_random();
    for (let end = Math.min(at + 4, into.length), i = at; i < end; i++) {
      into[i] = word & 0xff;
      word >>>= 8;
    }
  }
};
