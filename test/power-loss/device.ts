// A device whose power can go: what it keeps, and a host for each of its starts.
import type { Clock, Host, SocketEvent } from "../../src/port.js";
import { FakeClock } from "../fakes/clock.js";
import { FakeFlash, FakeSlot } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import { FakeNet } from "../fakes/net.js";
import { type Power, PowerLossError, poweredBlocks, poweredStore } from "./power.js";

const WALL = Date.UTC(2026, 0, 1);

export interface PoweredHost extends Host {
  /** `level: line` of every line of this host. */
  readonly lines: string[];
}

/** What outlives a power loss. The clock and the network are the world's, and go on. */
export class Body {
  readonly clock = new FakeClock(WALL);
  readonly net = new FakeNet(this.clock);
  readonly store = new FakeStore();
  flash: FakeFlash;
  starts = 0;
  /** False: the device does not know the time of day. */
  knowsTime = true;
  /** Whom a name leads to, if not to `net`. */
  readonly nets = new Map<string, FakeNet>();

  constructor(sectors = 16, sectorSize = 4096) {
    this.flash = new FakeFlash(sectors * sectorSize, sectorSize);
  }

  /** Bytes of the flash. */
  get bytes(): Uint8Array {
    return this.flash.bytes;
  }

  /**
   * A host for the next start. Once the power is off all its calls that could have an effect throw; time, chance and the log are answered still,
   * but no timer comes and no socket says anything. At every second power loss the platform never learns that the connections are gone.
   */
  start(power: Power): PoweredHost {
    this.starts++;
    // Which bytes were written since the last erase is not known any more.
    this.flash = new FakeFlash(this.flash.size, this.flash.sectorSize, this.bytes);
    const { clock, net, flash } = this;
    const base = fakeHost({ clock, network: net, seed: this.starts, slot: new FakeSlot(0, 4096) });
    const sockets: { close(): void }[] = [];
    const silent = this.starts % 2 === 0;
    power.onOff = () => {
      if (!silent) for (const socket of sockets) socket.close();
    };
    return {
      ...base,
      clock: this.#clock(power),
      store: poweredStore(this.store, power),
      blocks: poweredBlocks(flash, power),
      open: (name, port, secure, event) => {
        power.check();
        const hear = (what: SocketEvent, reason?: string) => {
          if (what === "readable") power.instant("hear");
          event(what, reason);
        };
        const { open } = this.nets.get(name) ?? net;
        const socket = open(name, port, secure, (...heard) => guarded(power, () => hear(...heard)));
        sockets.push(socket);
        return {
          write: (bytes) => power.change(`send ${bytes.length}`, () => socket.write(bytes)),
          read: (into) => {
            power.check();
            return socket.read(into);
          },
          close: () => socket.close(),
        };
      },
    };
  }

  #clock(power: Power): Clock {
    const { clock } = this;
    const bootedAt = clock.now();
    return {
      now: () => clock.now() - bootedAt,
      wall: () => (this.knowsTime ? clock.wall() : undefined),
      timer: (ms, due) => (power.on ? clock.timer(ms, () => guarded(power, due)) : () => {}),
    };
  }
}

/** Calls back unless the power is off; that it goes meanwhile ends the callback and nothing else. */
function guarded(power: Power, call: () => void): void {
  if (!power.on) return;
  try {
    call();
  } catch (error) {
    if (power.on || !(error instanceof PowerLossError)) throw error;
  }
}
