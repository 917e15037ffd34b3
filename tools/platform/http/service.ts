import type { Socket } from "node:net";
import type { DeviceRequest, DeviceResponse } from "../device/messages.js";
import type { Prepared } from "./prepared.js";

/** What a connection is served by. */
export interface Service {
  /** What refuses a request before its body is looked at. */
  refuse(request: Omit<DeviceRequest, "body">): DeviceResponse | undefined;
  /** Whether it is for the device API; the others go to the operator's. */
  serves(url: string): boolean;
  /** Calls `respond` once at most. The result is called when the device hung up before. */
  handle(request: DeviceRequest, respond: (answer: DeviceResponse) => void): () => void;
  /** The operator's API: the request's own bytes and body go into `Passed`; `done` says whether the connection stays. */
  pass(socket: Socket, request: Prepared, done: (stays: boolean) => void): Passed;
  /** Milliseconds since 1970. */
  now(): number;
}

/** The body of a request on its way to the operator's API. */
export interface Passed {
  body(piece: Uint8Array): void;
  end(): void;
  abandon(): void;
}

export interface Limits {
  /** When a connection on which nothing goes on is closed, in milliseconds. */
  readonly idleMs: number;
  readonly requests: number;
}
