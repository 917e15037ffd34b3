import { randomFillSync } from "node:crypto";
import { join, resolve } from "node:path";
import type { LogMemory } from "../../extras/diagnostics/index.js";
import { pinStored, SecretRedactor } from "../../src/board-module.js";
import type { Host, LastRun, Redactor } from "../../src/port.js";
import type { Boot, SlotName } from "../device/boot-slots/boot-record.js";
import { TwoSlots } from "../device/boot-slots/boot-slots.js";
import { FileBlocks } from "./blocks.js";
import { readBoot, slotPath, writeBoot } from "./boot-record.js";
import { BoundedOutput, leftOutLine } from "./bounded-output.js";
import { clock } from "./clock.js";
import { digest, sha256 } from "./digest.js";
import { RESTART } from "./exit.js";
import { makeDirectory, QUEUE_FILE } from "./files.js";
import { hardwareId } from "./hardware-id.js";
import "./dispose.js";
import { FileLogMemory } from "./log-memory.js";
import { opener, type SocketOptions } from "./sockets.js";
import { StateLock } from "./state-lock.js";
import { FileStore } from "./store.js";
import { decode, encode } from "./text.js";

export { watchNetwork } from "./network.js";

const MIB = 1024 * 1024;

export interface NodeHostOptions extends SocketOptions {
  /** Directory for persistent state, created if missing and readable by this user only. */
  stateDir: string;
  /**
   * Size of the durable queue in bytes. Default 16 MiB, written in full at the first start. An
   * existing file keeps its size.
   */
  blocksBytes?: number;
  /**
   * Maximum size of a firmware image in bytes. Default 128 MiB; uses only the room that an image
   * needs.
   */
  slotBytes?: number;
  /** Removes secrets from output. Default: a new `SecretRedactor`. */
  redactor?: Redactor;
  /** Default: a line on standard error. */
  log?: Host["log"];
  /**
   * Default: the process ends with exit code 75, which asks its service manager to start it again.
   */
  restart?: Host["restart"];
  /** The slot whose image runs, if it is not the recorded one. */
  runningSlot?: SlotName | undefined;
  /** How the last run ended, as known to the program that starts this one. */
  lastRun?: LastRun | undefined;
}

/** A host that uses files and Node's sockets. */
export interface NodeHost extends Host {
  /** Storage of the kept log, a file. */
  readonly logMemory: LogMemory;
  /** Closes the files; may be called again. Do not use the host afterwards. */
  close(): void;
}

/**
 * Opens the host of a state directory. Throws LockedError if another open host uses the directory,
 * QueueFileError if the queue file cannot be used, and a StateFileError or an Error if another file
 * cannot be used.
 */
export function createHost(options: NodeHostOptions): NodeHost {
  // A caller in JavaScript may omit it, and the state must not end up in some folder.
  if (typeof options?.stateDir !== "string" || options.stateDir === "")
    throw new TypeError(
      'createHost({ stateDir }): missing stateDir, a folder for the device\'s state, such as "./state"',
    );
  // Now: the program may change its working directory later.
  const stateDir = resolve(options.stateDir);
  const { log: show = standardErrorLog() } = options;
  const redactor = options.redactor ?? new SecretRedactor();
  const log: Host["log"] = (level, line) => show(level, redactor.clean(line));
  makeDirectory(stateDir);
  const lock = StateLock.ofHost(stateDir);
  try {
    return openHost({ ...options, stateDir }, lock, redactor, log);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function openHost(options: NodeHostOptions, lock: StateLock, redactor: Redactor, log: Host["log"]): NodeHost {
  const { stateDir, blocksBytes = 16 * MIB, slotBytes = 128 * MIB } = options;
  const warn = (line: string): void => log("warn", line);
  const blocks = new FileBlocks(join(stateDir, QUEUE_FILE), blocksBytes, warn);
  const bootStore = {
    read: () => readBoot(stateDir),
    write: (boot: Boot) => writeBoot(stateDir, boot),
  };
  const slot = new TwoSlots(
    bootStore,
    (name) => new FileBlocks(slotPath(stateDir, name), slotBytes, warn, "slot"),
    sha256,
    options.runningSlot,
  );
  const logMemory = new FileLogMemory(join(stateDir, "log.bin"));
  const store = new FileStore(join(stateDir, "store"));
  pinStored({ store, decode }, redactor);
  let isClosed = false;
  return {
    clock,
    store,
    blocks,
    slot,
    open: opener(options),
    digest,
    encode,
    decode,
    random: (into) => void randomFillSync(into),
    hardwareId: hardwareId(stateDir),
    log,
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    logMemory,
    lastRun: options.lastRun,
    restart: options.restart ?? (() => process.exit(RESTART)),
    close() {
      // Only once: the numbers of closed files are reused.
      if (isClosed) return;
      isClosed = true;
      logMemory.close();
      blocks.close();
      slot.close();
      lock.release();
    },
  };
}

function standardErrorLog(): Host["log"] {
  const output = new BoundedOutput<string>(process.stderr, (count) => `warn: ${leftOutLine(count)}\n`);
  return (level, line) => output.write(`${level}: ${line}\n`);
}
