import { randomFillSync } from "node:crypto";
import { join } from "node:path";
import type { LogMemory } from "../../src/log/index.js";
import type { Host } from "../../src/port.js";
import type { Boot } from "../shared/boot-slots/boot-record.js";
import { TwoSlots } from "../shared/boot-slots/boot-slots.js";
import { FileBlocks } from "./blocks.js";
import { readBoot, slotPath, writeBoot } from "./boot-record.js";
import { clock } from "./clock.js";
import { digest, sha256 } from "./digest.js";
import { RESTART } from "./exit.js";
import { makeDirectory } from "./files.js";
import { hardwareId } from "./hardware-id.js";
import { Lock } from "./lock.js";
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
  /** Default: a line on standard error. */
  log?: Host["log"];
  /** Default: the process ends with exit code 75, for whoever started it to start it again. */
  restart?: Host["restart"];
}

/** A host on files and Node's sockets. */
export interface NodeHost extends Host {
  /** A file. */
  readonly logMemory: LogMemory;
  /** Gives the files back; idempotent. Nothing else of the host may be used afterwards. */
  close(): void;
}

/**
 * Throws if the directory or its files cannot be used, QueueFileError if the queue's file can't be read or the disk has no room for
 * it, and LockedError if another host that is open uses the directory, of this process or another.
 */
export function createHost(options: NodeHostOptions): NodeHost {
  const { stateDir, blocksBytes = 16 * MIB, slotBytes = 128 * MIB } = options;
  const log: Host["log"] = options.log ?? toStandardError;
  const warn = (line: string): void => log("warn", line);
  makeDirectory(stateDir);
  const lock = Lock.ofHost(stateDir);
  const blocks = openQueue(lock, join(stateDir, "blocks.bin"), blocksBytes, warn);
  const bootStore = { read: () => readBoot(stateDir), write: (boot: Boot) => writeBoot(stateDir, boot) };
  const slot = new TwoSlots(
    bootStore,
    (name) => new FileBlocks(slotPath(stateDir, name), slotBytes, warn, "slot"),
    sha256,
  );
  const logMemory = new FileLogMemory(join(stateDir, "log.bin"));
  let isClosed = false;
  return {
    clock,
    store: new FileStore(join(stateDir, "store")),
    blocks,
    slot,
    open: opener(options),
    digest,
    encode,
    decode,
    random: (into) => void randomFillSync(into),
    hardwareId: hardwareId(stateDir),
    log,
    logMemory,
    restart: options.restart ?? (() => process.exit(RESTART)),
    close() {
      // Once: the numbers of closed files are given to others.
      if (isClosed) return;
      isClosed = true;
      logMemory.close();
      blocks.close();
      slot.close();
      lock.release();
    },
  };
}

/** The lock is let go if there can be no queue, so that the caller may try again. */
function openQueue(lock: Lock, path: string, size: number, warn: (line: string) => void): FileBlocks {
  try {
    return new FileBlocks(path, size, warn);
  } catch (error) {
    lock.release();
    throw error;
  }
}

function toStandardError(level: string, line: string): void {
  if (level !== "debug") process.stderr.write(`${level}: ${line}\n`);
}
