import type { Files } from "embedded:storage/files";
import { Digest as NativeDigest } from "crypt";
import FFI from "mc/ffi";
import RNG from "rng";
import type { LogMemory } from "../../extras/diagnostics/index.js";
import { pinStored, SecretRedactor } from "../../src/board-module.js";
import type { Digest, Host, LastRun } from "../../src/port.js";
import { TwoSlots } from "../device/boot-slots/boot-slots.js";
import { XsClock } from "../moddable/clock.js";
import { digester } from "../moddable/digest.js";
import { log } from "../moddable/log.js";
import { decode, encode } from "../moddable/text.js";
import { FileBlocks } from "./blocks.js";
import { bootStore } from "./boot.js";
import { SLOT } from "./boot-loader.js";
import { readWhole, replace } from "./files.js";
import { FileLogMemory } from "./log-memory.js";
import { FileStore } from "./store.js";
import { opener } from "./tls-socket.js";

const KIB = 1024;
/** The size of a board's partition. */
const BLOCKS = 640 * KIB;
/** How long a supervisor has to start the program again. */
const SUPERVISED_MS = 3000;

export interface SimulatorOptions {
  /** CA certificates, DER. */
  authorities?: readonly Uint8Array[];
  blocksBytes?: number;
  slotBytes?: number;
  log?: Host["log"];
  /** How the last run ended, as known to the program that started the simulator. */
  lastRun?: LastRun | undefined;
}

export interface SimulatorHost extends Host {
  /** Storage of the kept log, a file. */
  readonly logMemory: LogMemory;
  /** Closes the files. Do not use the host afterwards. */
  close(): void;
}

/**
 * The simulator as a host. Uses `files` (passed in, because it cannot be preloaded) below the
 * supervisor's root, and the computer's clock and network.
 */
export const createHost = (files: Files, options: SimulatorOptions = {}): SimulatorHost => {
  const redactor = new SecretRedactor();
  const show = options.log ?? log;
  const store = new FileStore(files, "store");
  pinStored({ store, decode }, redactor);
  const digest = digester(NativeDigest);
  const { authorities = [], blocksBytes = BLOCKS, slotBytes = SLOT } = options;
  const native = new FFI();
  // A write to a closed connection would otherwise end the simulator.
  native.mote_ignore_sigpipe();
  const random: Host["random"] = (into) => {
    for (let i = 0; i < into.length; i++) into[i] = native.mote_random();
  };
  const seed = new Uint8Array(32);
  random(seed);
  RNG.init(seed.buffer);
  const clock = new XsClock();
  clock.trust();
  const blocks = new FileBlocks(files, "blocks.bin", blocksBytes);
  files.createDirectory("slots");
  const slot = new TwoSlots(
    bootStore(files),
    (name) => new FileBlocks(files, `slots/${name}.bin`, slotBytes),
    () => digest("SHA256") as Digest,
  );
  const logMemory = new FileLogMemory(files, "log.bin");
  return {
    clock,
    store,
    blocks,
    slot,
    open: opener(authorities),
    digest,
    encode,
    decode,
    random,
    hardwareId: hardwareId(files, random),
    log: (level, line) => show(level, redactor.clean(line)),
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    logMemory,
    lastRun: options.lastRun,
    restart() {
      trace("@restart\n");
      clock.timer(SUPERVISED_MS, () => {
        if (!native.mote_restart()) show("warn", "this simulator cannot restart by itself: start it again");
      });
    },
    close() {
      logMemory.close();
      blocks.close();
      slot.close();
    },
  };
};

/** Twelve random hex digits, created at the first start. */
const hardwareId = (files: Files, random: Host["random"]): string => {
  const kept = readWhole(files, "hardware-id");
  if (kept && kept.length === 12) return decode(kept) ?? "simulator";
  const bytes = new Uint8Array(6);
  random(bytes);
  const made = encode(bytes.toHex());
  replace(files, "hardware-id", made);
  return decode(made) ?? "simulator";
};
