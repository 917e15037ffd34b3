import type { Renewal } from "../../extras/trust/trust.js";
import { pinAll, pinStored, SecretRedactor } from "../../src/index.js";
import type { Host, LastRun, Redactor } from "../../src/port.js";
import { type Idf, type Machine, MEMORY } from "./board-hardware.js";
import { LastWords } from "./crash.js";
import { type Partition, PartitionBlocks } from "./partition.js";
import { OtaSlot } from "./slot.js";
import { AGENT, type Domain, NvsStore, OWN } from "./store.js";

/** Label of the data partition of the durable queue. */
const OUTBOX = "outbox";

export interface BoardHost extends Host {
  readonly redactor: Redactor;
  readonly lastRun: LastRun;
  /** What the host itself keeps. */
  readonly own: NvsStore;
  /** Of the authorities that are trusted, if the image has that part. */
  readonly renewal?: Renewal;
  /** As "aabbccddeeff". */
  readonly mac: string;
  /** Bytes of the system's heap. */
  freeMemory(): number;
  /** The least there was since the start. */
  leastFreeMemory(): number;
}

/** The port on a board. What is missing is logged and done without: a board that starts can be mended from afar. */
export const createHost = (machine: Machine): BoardHost => {
  const { clock, open, digest, encode, decode, idf } = machine;
  const redactor = new SecretRedactor({ encode });
  const log: Host["log"] = (level, line) => machine.log(level, redactor.clean(line));
  const own = new NvsStore(storage(machine, OWN), machine);
  const lastWords = new LastWords(own, machine);
  const lastRun = lastRunOf(machine, lastWords);
  machine.onAbort((status, exception) => {
    lastWords.crashed(status, exception);
    // The engine would do it: but after this hook SDK 8.2.3 reads the exception that is gone, which is another exception, and calls the hook again, until
    // its stack is full.
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
    random: (into) => randomFill(into, idf),
    hardwareId: mac,
    log,
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    restart(reason) {
      log("info", `restart: ${reason}`);
      lastWords.restarting();
      idf.esp_restart();
    },
    lastRun,
    own,
    mac,
    freeMemory: () => idf.esp_get_free_heap_size(),
    leastFreeMemory: () => idf.esp_get_minimum_free_heap_size(),
  };
};

/** To be asked before the time is set. */
const lastRunOf = ({ idf, config }: Machine, lastWords: LastWords): LastRun => {
  const { reset, crash } = lastWords.ending(idf.esp_reset_reason(), idf.mote_memory(MEMORY.wasFull) !== 0);
  const isWake = reset === "deep sleep";
  return {
    reset,
    crash,
    interrupted: crash === false && reset !== "software" && !isWake,
    powered: reset === "power on" && config.powerCycles !== false,
    sleptMs: isWake ? Math.max(0, idf.mote_slept()) : undefined,
  };
};

const partition = (machine: Machine, label: string): Partition | undefined => {
  try {
    return machine.partition(label);
  } catch {
    machine.log("error", `no partition "${label}": is the partition table that of hosts/esp32?`);
    return undefined;
  }
};

/** Without NVS nothing is kept: the device provisions again at each start. */
const storage = (machine: Machine, name: string): Domain => {
  try {
    return machine.storage(name);
  } catch {
    machine.log("error", `no name space "${name}" in NVS: nothing is kept`);
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

/** By chance once the radio is on. */
export const randomFill = (into: Uint8Array, idf: Pick<Idf, "esp_random">): void => {
  for (let at = 0; at < into.length; at += 4) {
    let word = idf.esp_random();
    for (let end = Math.min(at + 4, into.length), i = at; i < end; i++) {
      into[i] = word & 0xff;
      word >>>= 8;
    }
  }
};
