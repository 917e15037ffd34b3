import { randomFillSync } from "node:crypto";
import { join } from "node:path";
import type { LogMemory } from "../../extras/log/index.js";
import { pinStored, SecretRedactor } from "../../src/index.js";
import type { Host, LastRun, Redactor } from "../../src/port.js";
import type { Boot } from "../shared/boot-slots/boot-record.js";
import { TwoSlots } from "../shared/boot-slots/boot-slots.js";
import { FileBlocks } from "./blocks.js";
import { readBoot, slotPath, writeBoot } from "./boot-record.js";
import { BoundedOutput, leftOutLine } from "./bounded-output.js";
import { clock } from "./clock.js";
import { digest, sha256 } from "./digest.js";
import { IN_USE, RESTART } from "./exit.js";
import { makeDirectory, QUEUE_FILE } from "./files.js";
import { hardwareId } from "./hardware-id.js";
import "./dispose.js";
import { Lease } from "./lease.js";
import { FileLogMemory } from "./log-memory.js";
import { opener, type SocketOptions } from "./sockets.js";
import { FileStore } from "./store.js";
import { decode, encode } from "./text.js";

export { watchNetwork } from "./network.js";

const MIB = 1024 * 1024;

export interface NodeHostOptions extends SocketOptions {
  /** Where everything is kept that outlives the process; made if there is none, readable by this user only. */
  stateDir: string;
  /** Of the durable queue, in bytes. Default 16 MiB, written in full at the first start. A file that is there already keeps its size. */
  blocksBytes?: number;
  /** The largest firmware image, in bytes. Default 128 MiB; takes only the room that an image needs. */
  slotBytes?: number;
  /** Default: one of its own. */
  redactor?: Redactor;
  /** Default: a line on standard error. */
  log?: Host["log"];
  /** Default: the process ends with exit code 75, for whoever started it to start it again. */
  restart?: Host["restart"];
  /** As the program that starts this one knows it. */
  lastRun?: LastRun | undefined;
  /**
   * Called when another process took the state directory over; nothing can be written any more.
   * Default: the process ends with exit code 9.
   */
  lost?: () => void;
}

/** A host on files and Node's sockets. */
export interface NodeHost extends Host {
  /** A file. */
  readonly logMemory: LogMemory;
  /** Gives the files back; idempotent. Nothing else of the host may be used afterwards. */
  close(): void;
}

/**
 * Opens the host of a state directory. Blocks for up to 5 s if the process that had it open last ran in
 * another container and does not answer. Throws LockedError if another open host uses the directory,
 * QueueFileError if the queue's file cannot be read or the disk has no room for it, and an Error if
 * another file cannot be used.
 */
export function createHost(options: NodeHostOptions): NodeHost {
  const { stateDir, log: show = standardErrorLog() } = options;
  const redactor = options.redactor ?? new SecretRedactor({ encode });
  const log: Host["log"] = (level, line) => show(level, redactor.clean(line));
  makeDirectory(stateDir);
  const lease = Lease.ofHost(stateDir, { tell: (line) => log("info", line) });
  try {
    return openHost(options, lease, redactor, log);
  } catch (error) {
    lease.release();
    throw error;
  }
}

function openHost(options: NodeHostOptions, lease: Lease, redactor: Redactor, log: Host["log"]): NodeHost {
  const { stateDir, blocksBytes = 16 * MIB, slotBytes = 128 * MIB } = options;
  const warn = (line: string): void => log("warn", line);
  lease.lost.addEventListener("abort", () => {
    log("error", `${stateDir} was taken over by another process: this one ends`);
    (options.lost ?? (() => process.exit(IN_USE)))();
  });
  const blocks = new FileBlocks(join(stateDir, QUEUE_FILE), blocksBytes, warn, lease);
  const bootStore = {
    read: () => readBoot(stateDir),
    write: (boot: Boot) => writeBoot(stateDir, boot, lease),
  };
  const slot = new TwoSlots(
    bootStore,
    (name) => new FileBlocks(slotPath(stateDir, name), slotBytes, warn, lease, "slot"),
    sha256,
  );
  const logMemory = new FileLogMemory(join(stateDir, "log.bin"), lease);
  const store = new FileStore(join(stateDir, "store"), lease);
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
    hardwareId: hardwareId(stateDir, lease),
    log,
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    logMemory,
    lastRun: options.lastRun,
    restart: options.restart ?? (() => process.exit(RESTART)),
    close() {
      // Once: the numbers of closed files are given to others.
      if (isClosed) return;
      isClosed = true;
      logMemory.close();
      blocks.close();
      slot.close();
      lease.release();
    },
  };
}

function standardErrorLog(): Host["log"] {
  const output = new BoundedOutput<string>(process.stderr, (count) => `warn: ${leftOutLine(count)}\n`);
  return (level, line) => {
    if (level !== "debug") output.write(`${level}: ${line}\n`);
  };
}
