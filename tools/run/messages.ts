// Messages between the supervisor and its worker.

import type { SlotName } from "../../hosts/device/boot-slots/boot-record.js";
import type { LastRun } from "../../src/port.js";

/** All that a worker needs to know. It goes by the channel between the two, as it holds secrets. */
export interface WorkerConfig {
  /** Absolute. */
  stateDir: string;
  url: string;
  token?: string | undefined;
  provisioning?: { key: string; secret: string; deviceName?: string | undefined } | undefined;
  /** For the application: between two samples. */
  intervalMs: number;
  /** It sleeps between two samples, and connects in every so many of its wakes. */
  cycle?: number | undefined;
  connections: 1 | 2 | 3;
  timestamps: "device" | "platform";
  durable: boolean;
  /** Certificates (PEM) of `--ca`, trusted in place of Node's. */
  ca?: string | undefined;
  insecureTls: boolean;
  allowHttpFirmware: boolean;
  /** Hosts that updates by URL may come from. */
  firmwareHosts: readonly string[];
  exitOnRefusal: boolean;
}

/** `event` is one of those that `--log json` shows. */
export type Event = { event: string } & Record<string, unknown>;

export type ToWorker =
  | {
      kind: "start";
      /** Of this start: begins each message of the worker. The image never gets it. */
      secret: string;
      config: WorkerConfig;
      path: string;
      slot: SlotName;
      state: "confirmed" | "pending";
      /** Of the image. */
      sha256: string;
      /** The image came by `--app`, not by an update. */
      isFlashed: boolean;
      /** Of the worker before this one; `interrupted` if there was none. */
      lastRun: LastRun;
    }
  | { kind: "stop" };

export type FromWorker =
  | { kind: "event"; event: Event }
  /** Hides a secret in all lines. `isOwn`: the device's, not an application's. */
  | { kind: "secret"; secret: string; isOwn: boolean }
  /** Every 5 s: the event loop turns. `lives`: so does the agent, by its own signs. */
  | { kind: "heartbeat"; lives: boolean }
  /** The image was loaded and set up, and the agent started. */
  | { kind: "ready" }
  /** The agent confirmed the image on trial. */
  | { kind: "confirmed" }
  /** The agent's last message: why the process ends. */
  | { kind: "end"; how: Ending; reason: string };

/**
 * How a worker ends. Only the agent's own message says so; an exit code means nothing, because any
 * program can choose it.
 * - `stopped`: as the supervisor asked.
 * - `restart`: start again at once.
 * - `reset`: start again with the settings of now.
 * - `refused`: the platform refuses the device, with `--exit-on-refusal`.
 * - `inUse`: another process uses the state directory.
 * - `queue`: the queue file cannot be used; `reason` says why.
 * - `unfit`: the file is not an image.
 * - `crash`: everything else, and every end without a message.
 */
export type Ending = "stopped" | "restart" | "reset" | "refused" | "inUse" | "queue" | "unfit" | "crash";
