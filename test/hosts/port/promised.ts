// What a case of the port's promises is, and what a host's test brings along for it.
import type { Host } from "../../../src/port.js";

/** The other end of a connection. */
export interface Peer {
  write(bytes: Uint8Array): void;
  /** Closes in good order, after what was written. */
  end(): void;
  /** Breaks the connection. */
  reset(): void;
  /** Reads nothing until `release()`; a peer begins released. */
  hold(): void;
  release(): void;
}

/** What a peer does; called for each connection. */
export interface PeerScript {
  opened?(peer: Peer): void;
  bytes?(peer: Peer, bytes: Uint8Array): void;
  /** The connection is over, whoever ended it. */
  closed?(): void;
}

export interface Place {
  name: string;
  port: number;
  secure: boolean;
}

/**
 * What a host's test brings along. What it cannot bring is undefined: the cases that need it are
 * left out.
 */
export interface Tools {
  /** Listens; whoever connects gets `script`. */
  listen?: (script: PeerScript) => Promise<Place>;
  /** Where nobody listens. */
  nowhere?: () => Promise<Place>;
  /** A name that no name server knows. */
  unknown?: Place;
  /**
   * The host after a restart of the machine. Its slots hold an image that runs and is confirmed.
   */
  restart?: () => Promise<Host>;
  /**
   * What the cases that carry much carry, in bytes: `MUCH`, unless the host's own pace makes hours
   * of it.
   */
  bytes?: number;
  /**
   * How many connections are open at once in the case that has many: `MANY`, unless the host has
   * room for fewer.
   */
  sockets?: number;
}

export const MUCH = 5 * 1024 * 1024;
export const MANY = 20;

export interface Promised {
  /** A sentence. */
  title: string;
  needs?: keyof Tools;
  /**
   * Rejects if the promise is broken. `host` is fresh: nothing stored, sectors erased, two of them
   * at least.
   */
  run(host: Host, tools: Required<Tools>): Promise<void> | void;
}
