import type { Socket, SocketEvent } from "../../../src/port.js";

/** MOTE_TLS_OPENED, _READABLE, _WRITABLE and _CLOSED of native/tls/mote_tls_connection.h. */
const OPENED = 1;
const READABLE = 2;
const WRITABLE = 4;
const CLOSED = 8;

/** A TLS connection of native/tls/tls.js. */
export interface NativeTls {
  /**
   * Returns the number of accepted bytes; if not all, an event reports when there is room again.
   */
  write(bytes: Uint8Array): number;
  read(into: Uint8Array): number;
  close(): void;
}

/** Parts of the board: board.ts provides the SDK's, tests provide fakes. */
export interface TlsModules {
  /** Throws with a message for people if there is no room. */
  connect(
    name: string,
    address: string,
    port: number,
    authorities: readonly Uint8Array[],
    event: (what: number, reason?: string) => void,
  ): NativeTls;
  resolve(name: string, found: (address: string | undefined) => void): void;
}

/**
 * A TLS connection by ESP-IDF's mbedTLS in its own task. The engine's callbacks must not throw,
 * which would restart the machine.
 */
export class TlsSocket implements Socket {
  private readonly _notify: (what: SocketEvent, reason?: string) => void;
  private readonly _modules: TlsModules;
  private _native: NativeTls | undefined;
  private _over = false;

  /** `authorities`: DER or PEM; none: the CAs of the image. */
  constructor(
    name: string,
    port: number,
    authorities: readonly Uint8Array[],
    notify: (what: SocketEvent, reason?: string) => void,
    modules: TlsModules,
  ) {
    this._notify = notify;
    this._modules = modules;
    modules.resolve(name, (address) => this._guard(() => this._connect(name, address, port, authorities)));
  }

  write(bytes: Uint8Array): number {
    return this._over || !this._native ? 0 : this._native.write(bytes);
  }

  read(into: Uint8Array): number {
    const count = this._native ? this._native.read(into) : 0;
    // Bytes before the end stay on the native side until they are read.
    if (count === 0 && this._over) this._drop();
    return count;
  }

  close(): void {
    this._over = true;
    this._drop();
  }

  private _connect(
    name: string,
    address: string | undefined,
    port: number,
    authorities: readonly Uint8Array[],
  ): void {
    if (this._over) return;
    if (address === undefined) {
      this._close("name not found");
      return;
    }
    try {
      this._native = this._modules.connect(name, address, port, authorities, (what, reason) =>
        this._guard(() => this._on(what, reason)),
      );
    } catch (error) {
      this._close(error instanceof Error ? error.message : "no connection");
    }
  }

  private _on(what: number, reason: string | undefined): void {
    for (const [bit, event] of EVENTS) if (what & bit && !this._over) this._notify(event);
    if (what & CLOSED) this._close(reason ?? "connection closed");
  }

  private _close(reason: string): void {
    if (this._over) return;
    this._over = true;
    this._notify("closed", reason);
  }

  private _drop(): void {
    const native = this._native;
    this._native = undefined;
    native?.close();
  }

  private _guard(step: () => void): void {
    try {
      step();
    } catch {
      this._drop();
      try {
        this._close("internal error");
      } catch {
        // An exception must not reach the engine.
      }
    }
  }
}

const EVENTS: readonly (readonly [bit: number, event: SocketEvent])[] = [
  [OPENED, "opened"],
  [READABLE, "readable"],
  [WRITABLE, "writable"],
];
