import { Connection, READ_BYTES } from "../http/connection.js";
import type { Target } from "../http/target.js";
import type { Host } from "../port.js";
import type { Binding } from "../wire/secret.js";
import type { PaceName } from "./pace.js";

interface RouteSettings {
  /** Undefined: as fast as RPCs come. */
  readonly pace?: PaceName;
  /** Index of the connection with the option `connections` 1, 2 and 3. */
  readonly on: readonly [number, number, number];
}

/**
 * Pace and connection of each kind of request. The second polls, calls and firmware
 * streams close their connection when done.
 */
const ROUTES = {
  telemetry: { pace: "telemetry", on: [0, 0, 0] },
  attributes: { pace: "attributes", on: [0, 0, 0] },
  provisioning: { pace: "provisioning", on: [0, 0, 0] },
  application: { pace: "application", on: [0, 0, 0] },
  rpcPoll: { pace: "rpcPoll", on: [0, 1, 1] },
  secondRpcPoll: { pace: "rpcPoll", on: [0, 2, 2] },
  // An answer uses the connection that brought its RPC.
  rpcAnswer: { on: [0, 1, 1] },
  secondRpcAnswer: { on: [0, 2, 2] },
  attributePoll: { pace: "attributePoll", on: [0, 0, 3] },
  secondAttributePoll: { pace: "attributePoll", on: [0, 0, 6] },
  firmware: { pace: "firmware", on: [0, 0, 4] },
  call: { pace: "application", on: [0, 3, 5] },
} as const satisfies Record<string, RouteSettings>;

/** A kind of request. */
export type RouteName = keyof typeof ROUTES;

export const paceOf = (route: RouteName): PaceName | undefined => (ROUTES[route] as RouteSettings).pace;

const EXTERNAL = 7;

/** Part of a wake that one body may take: it can be lost twice, with a test after each loss. */
const BODY_SHARE = 0.4;

/** The connections to the platform, created on first use. */
export class ConnectionPool {
  private readonly _host: Host;
  private readonly _target: Target;
  private readonly _binding: Binding;
  private readonly _buffer = new Uint8Array(READ_BYTES);
  private readonly _count: 1 | 2 | 3;
  private _shortPolls = false;
  private readonly _connections: (Connection | undefined)[] = [];

  /** `count`: the option `connections`. */
  constructor(host: Host, target: Target, count: 1 | 2 | 3, binding: Binding) {
    this._host = host;
    this._target = target;
    this._binding = binding;
    this._count = count;
  }

  /** All requests take turns on one connection: what is sent waits for the poll under way. */
  get sharesUplink(): boolean {
    return this._inUse === 1;
  }

  /** Shared attributes have their own poll. Otherwise the values are read at intervals. */
  get pollsAttributes(): boolean {
    return this._inUse === 3;
  }

  /**
   * Another poll may open before the one on `route` ends. A firmware stream leaves no memory for a
   * second attribute poll.
   */
  overlaps(route: RouteName): boolean {
    if (route === "rpcPoll" || route === "secondRpcPoll") return !this.sharesUplink;
    const isStreaming = this._connections[this._indexOf("firmware")] || this._connections[EXTERNAL]?.isOpen;
    return this.pollsAttributes && !isStreaming;
  }

  /** A firmware image streams on its own connection. Otherwise it is requested in parts. */
  get streams(): boolean {
    return this._inUse === 3;
  }

  /** During a wake: one connection, and short RPC polls until one brings nothing. */
  get shortPolls(): boolean {
    return this._shortPolls;
  }

  /** Limit of the time for a body and its answer: within a wake, the test after it must fit too. */
  longestBodyMs = Number.POSITIVE_INFINITY;

  beginWake(wakeMs: number): void {
    this._shortPolls = true;
    this.longestBodyMs = BODY_SHARE * wakeMs;
  }

  endWake(): void {
    this._shortPolls = false;
    this.longestBodyMs = Number.POSITIVE_INFINITY;
  }

  connection(route: RouteName): Connection {
    const index = this._indexOf(route);
    const connection = this._connections[index] ?? this._connect(this._target, this._binding);
    this._connections[index] = connection;
    return connection;
  }

  /**
   * Opens a connection to an external server, replacing the previous one. No token is bound to it,
   * and it closes with the others.
   */
  external(target: Target): Connection {
    this._connections[EXTERNAL]?.close();
    const connection = this._connect(target);
    this._connections[EXTERNAL] = connection;
    return connection;
  }

  /** Closes the connection of `route`, unless it is the shared uplink. */
  hangUp(route: RouteName): void {
    const index = this._indexOf(route);
    if (index === 0) return;
    this._connections[index]?.close();
    this._connections[index] = undefined;
  }

  /** Abandons all open sockets. */
  renew(): void {
    for (const connection of this._connections) connection?.renew();
  }

  close(): void {
    for (const connection of this._connections) connection?.close();
    this._connections.length = 0;
  }

  private _indexOf(route: RouteName): number {
    return ROUTES[route].on[this._inUse - 1] as number;
  }

  private get _inUse(): 1 | 2 | 3 {
    return this._shortPolls ? 1 : this._count;
  }

  private _connect(target: Target, binding?: Binding): Connection {
    return new Connection(this._host, target, this._buffer, binding);
  }
}
