// A device whose power can go: what outlives a power loss, and a host for each of its starts.
import type { Clock, Host, Socket } from "../../src/port.js";
import { FakeClock } from "./clock.js";
import { FakeFlash, FakeSlot } from "./flash.js";
import { FakeStore, fakeHost } from "./host.js";
import { FakeNet } from "./net.js";
import { PowerLossError, type PowerSupply, poweredBlocks, poweredStore } from "./power.js";

const WALL = Date.UTC(2026, 0, 1);

export interface PoweredHost extends Host {
  /** `level: line` of every line of this host. */
  readonly lines: string[];
  /** Timers neither due nor cancelled. */
  readonly timers: ReadonlySet<object>;
  /** Connections that neither side has closed. */
  readonly sockets: ReadonlySet<Socket>;
}

interface PoweredDeviceOptions {
  /** Sectors of the durable queue (default 16), and their size (default 4096). */
  readonly sectors?: number;
  readonly sectorSize?: number;
  /** Default 0: the device takes no firmware. */
  readonly slotBytes?: number;
  /** Clock and network of the world around the device, which go on without power. */
  readonly clock?: FakeClock;
  readonly net?: FakeNet;
}

export class PoweredDevice {
  readonly clock: FakeClock;
  readonly net: FakeNet;
  readonly store = new FakeStore();
  readonly blocks: FakeFlash;
  readonly slot: FakeSlot;
  starts = 0;
  /** False: the device does not know the time of day. */
  knowsTime = true;
  /** The device's time of day minus the true one. */
  wallOffsetMs = 0;
  /** The networks of names that `net` does not lead to. */
  readonly nets = new Map<string, FakeNet>();

  constructor(options: PoweredDeviceOptions = {}) {
    const { sectors = 16, sectorSize = 4096, slotBytes = 0, clock = new FakeClock(WALL) } = options;
    this.clock = clock;
    this.net = options.net ?? new FakeNet(clock);
    this.blocks = new FakeFlash(sectors * sectorSize, sectorSize);
    this.slot = new FakeSlot(slotBytes, 4096);
  }

  /**
   * A host for the next start. Once the power is off, timers and sockets are silent and calls have
   * no effect; only the clock, the random bytes and the log still answer. At every second power
   * loss the platform does not learn that the connections are gone, unless `power` decides it.
   */
  start(power: PowerSupply, seed?: number): PoweredHost {
    const { clock, net, slot } = this;
    const starts = ++this.starts;
    this.blocks.forgetWrites();
    const timers = new Set<object>();
    const sockets = new Set<Socket>();
    power.onOff = (silent = starts % 2 === 0) => {
      if (!silent) for (const socket of sockets) socket.close();
    };
    return {
      ...fakeHost({ clock, network: net, slot, seed: seed ?? starts }),
      timers,
      sockets,
      clock: this.#clock(power, timers),
      store: poweredStore(this.store, power),
      blocks: poweredBlocks(this.blocks, power),
      open: this.#opener(power, sockets),
    };
  }

  #clock(power: PowerSupply, timers: Set<object>): Clock {
    const { clock } = this;
    const bootedAt = clock.now();
    return {
      now: () => clock.now() - bootedAt,
      wall: () => (this.knowsTime ? (clock.wall() ?? 0) + this.wallOffsetMs : undefined),
      timer: (ms, due) => {
        if (!power.on) return () => {};
        const cancel = clock.timer(ms, () => {
          timers.delete(cancel);
          guarded(power, due);
        });
        timers.add(cancel);
        return () => {
          timers.delete(cancel);
          cancel();
        };
      },
    };
  }

  #opener(power: PowerSupply, sockets: Set<Socket>): Host["open"] {
    return (name, port, secure, event) => {
      power.check();
      if (!power.on) return { write: () => 0, read: () => 0, close: () => {} };
      const { open } = this.nets.get(name) ?? this.net;
      const socket = open(name, port, secure, (what, reason) => {
        if (what === "closed") sockets.delete(socket);
        guarded(power, () => {
          if (what === "readable") power.instant("hear");
          event(what, reason);
        });
      });
      sockets.add(socket);
      return {
        write: (bytes) => power.send(bytes.length, () => socket.write(bytes)),
        read: (into) => {
          power.check();
          return socket.read(into);
        },
        close: () => {
          if (!power.on) return;
          sockets.delete(socket);
          socket.close();
        },
      };
    };
  }
}

/** Calls back unless the power is off. A power loss during the callback ends only the callback. */
export function guarded(power: { readonly on: boolean }, call: () => void): void {
  if (!power.on) return;
  try {
    call();
  } catch (error) {
    if (power.on || !(error instanceof PowerLossError)) throw error;
  }
}
