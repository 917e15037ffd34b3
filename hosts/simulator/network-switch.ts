// The panel's "network off": connections close, and no new one opens, as behind a dead router.
import type { Clock, Host, Socket, SocketEvent } from "../../src/port.js";

const NONE: Socket = { write: () => 0, read: () => 0, close() {} };

export class NetworkSwitch {
  private readonly _clock: Clock;
  private readonly _open = new Map<Socket, (event: SocketEvent) => void>();
  private _isOff = false;

  constructor(clock: Clock) {
    this._clock = clock;
  }

  get isOff(): boolean {
    return this._isOff;
  }

  toggle(): void {
    this._isOff = !this._isOff;
    if (!this._isOff) return;
    const cut = [...this._open];
    this._open.clear();
    for (const [socket, event] of cut) {
      socket.close();
      event("closed");
    }
  }

  /** `open` behind the switch. */
  watch(open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      if (this._isOff) {
        const cancel = this._clock.timer(0, () => event("closed"));
        return { ...NONE, close: () => cancel() };
      }
      const socket = open(name, port, secure, (what) => {
        if (what === "closed") this._open.delete(socket);
        event(what);
      });
      const close = socket.close.bind(socket);
      const watched: Socket = {
        write: (bytes) => socket.write(bytes),
        read: (into) => socket.read(into),
        close: () => {
          this._open.delete(socket);
          close();
        },
      };
      this._open.set(socket, event);
      return watched;
    };
  }
}
