// A device of a story: one agent after the other on what the one before kept. A life may end at any instant, as by a power cut: from
// then on nothing that its agent calls has an effect, and nothing calls it.
import type { Blocks, Clock, Host, Store } from "../../src/port.js";
import { FakeFlash } from "../fakes/flash.js";
import { FakeStore, fakeHost } from "../fakes/host.js";
import type { World } from "./world.js";

export interface Life {
  readonly host: Host;
  /** Timers not yet due nor cancelled. */
  readonly timers: number;
  readonly alive: boolean;
  /** Nothing has an effect any more. `silent`: the platform is not told that the connections are gone. */
  cut(silent: boolean): void;
}

export class Body {
  readonly store = new FakeStore();
  readonly blocks: FakeFlash;
  /** What the device takes for the time of day, minus the true one. */
  wallOffsetMs = 0;
  lives = 0;

  constructor(sectors: number) {
    this.blocks = new FakeFlash(sectors * 4096, 4096);
  }

  live(world: World, log: (line: string) => void): Life {
    let alive = true;
    const pending = new Set<object>();
    const sockets: { close(): void }[] = [];
    const base = fakeHost({ clock: world.clock, network: world.net, seed: world.seed + 7919 * ++this.lives });
    const bootedAt = world.clock.now();
    const clock: Clock = {
      now: () => world.clock.now() - bootedAt,
      wall: () => (world.clock.wall() ?? 0) + this.wallOffsetMs,
      timer: (ms, due) => {
        if (!alive) return () => {};
        const mine = {};
        pending.add(mine);
        const cancel = world.clock.timer(ms, () => {
          if (pending.delete(mine) && alive) due();
        });
        return () => {
          pending.delete(mine);
          cancel();
        };
      },
    };
    const store: Store = {
      get: (key) => this.store.get(key),
      set: (key, value) => alive && this.store.set(key, value),
      delete: (key) => alive && this.store.delete(key),
    };
    const { blocks } = this;
    const guarded: Blocks = {
      size: blocks.size,
      sectorSize: blocks.sectorSize,
      read: (at, into) => blocks.read(at, into),
      write: (at, bytes) => alive && blocks.write(at, bytes),
      erase: (at) => alive && blocks.erase(at),
    };
    const open: Host["open"] = (name, port, secure, event) => {
      if (!alive) return { write: () => 0, read: () => 0, close: () => {} };
      const socket = world.net.open(name, port, secure, (what, reason) => alive && event(what, reason));
      sockets.push(socket);
      const close = () => {
        if (alive) socket.close();
      };
      return {
        write: (bytes) => (alive ? socket.write(bytes) : 0),
        read: (into) => socket.read(into),
        close,
      };
    };
    return {
      host: {
        ...base,
        clock,
        store,
        blocks: guarded,
        open,
        log: (level, line) => alive && log(`${level}: ${line}`),
      },
      get timers() {
        return pending.size;
      },
      get alive() {
        return alive;
      },
      cut: (silent) => {
        alive = false;
        if (!silent) for (const socket of sockets) socket.close();
      },
    };
  }
}
