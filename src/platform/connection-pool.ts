import { Connection, READ_BYTES } from "../http/connection.js";
import type { Target } from "../http/target.js";
import type { Host } from "../port.js";

/** What a loop needs a connection for; which of these share one depends on the mode. */
export type Purpose = "uplink" | "rpc" | "rpc2" | "attributes" | "firmware" | "call";

// With 1, 2 and 3 connections. The second RPC poll, a client-side RPC and the firmware stream hold theirs only for as long as they last.
const INDEX = {
  1: { uplink: 0, rpc: 0, rpc2: 0, attributes: 0, firmware: 0, call: 0 },
  2: { uplink: 0, rpc: 1, rpc2: 2, attributes: 0, firmware: 0, call: 3 },
  3: { uplink: 0, rpc: 1, rpc2: 2, attributes: 3, firmware: 4, call: 5 },
} as const;

const EXTERNAL = 6;

/** The connections to the platform, made when first asked for. */
export class ConnectionPool {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _buffer = new Uint8Array(READ_BYTES);
  mode: 1 | 2 | 3;
  /** RPC polls last a moment and end with the first that brings nothing. */
  shortPolls = false;
  private readonly _connections: (Connection | undefined)[] = [];

  constructor(host: Host, target: Target, mode: 1 | 2 | 3) {
    this._host = host;
    this._target = target;
    this.mode = mode;
  }

  connection(purpose: Purpose): Connection {
    const index = INDEX[this.mode][purpose];
    const connection = this._connections[index] ?? new Connection(this._host, this._target, this._buffer);
    this._connections[index] = connection;
    return connection;
  }

  /** A connection to another server than the platform, in place of the one before; it knows nothing of a token, and ends with the others. */
  external(target: Target): Connection {
    this._connections[EXTERNAL]?.close();
    const connection = new Connection(this._host, target, this._buffer);
    this._connections[EXTERNAL] = connection;
    return connection;
  }

  /** Closes the connection of `purpose`, unless it is the uplink's. */
  hangUp(purpose: Purpose): void {
    const index = INDEX[this.mode][purpose];
    if (index === 0) return;
    this._connections[index]?.close();
    this._connections[index] = undefined;
  }

  /** None of what is open is of use any more. */
  renew(): void {
    for (const connection of this._connections) connection?.renew();
  }

  close(): void {
    for (const connection of this._connections) connection?.close();
    this._connections.length = 0;
  }
}
