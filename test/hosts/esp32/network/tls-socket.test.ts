// The port's socket over native/tls: what it reports, and what it leaves with the native side.
import test from "ava";
import { type NativeTls, type TlsModules, TlsSocket } from "../../../../hosts/esp32/network/tls-socket.js";

const OPENED = 1;
const READABLE = 2;
const WRITABLE = 4;
const CLOSED = 8;

class Native implements NativeTls {
  closed = 0;
  room = 3;
  readonly written: number[] = [];
  bytes: number[] = [];

  write(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, this.room);
    this.written.push(...taken);
    return taken.length;
  }

  read(into: Uint8Array): number {
    const part = this.bytes.splice(0, into.length);
    into.set(part);
    return part.length;
  }

  close(): void {
    this.closed++;
  }
}

function rig(how: { refuse?: string; throws?: boolean } = {}) {
  const native = new Native();
  const reported: string[] = [];
  let found: (address: string | undefined) => void = () => {};
  let event: (what: number, reason?: string) => void = () => {};
  const asked: unknown[] = [];
  const modules: TlsModules = {
    resolve: (_, then) => {
      found = then;
    },
    connect: (name, address, port, authorities, say) => {
      if (how.refuse !== undefined) throw new Error(how.refuse);
      asked.push([name, address, port, authorities.length]);
      event = say;
      return native;
    },
  };
  const socket = new TlsSocket(
    "platform.test",
    443,
    [Uint8Array.of(1)],
    (what, reason) => {
      reported.push(reason === undefined ? what : `${what}: ${reason}`);
      if (how.throws) throw new Error("on purpose");
    },
    modules,
  );
  return {
    socket,
    native,
    reported,
    asked,
    found: (address?: string) => found(address),
    event: (what: number, reason?: string) => event(what, reason),
  };
}

test("what the native side says is reported in order, and bytes go both ways", (t) => {
  const { socket, native, reported, asked, found, event } = rig();
  t.is(socket.write(Uint8Array.of(1)), 0, "not open yet");
  found("192.0.2.1");
  t.deepEqual(asked, [["platform.test", "192.0.2.1", 443, 1]]);
  event(OPENED);
  t.is(socket.write(Uint8Array.of(1, 2, 3, 4)), 3);
  event(WRITABLE);
  native.bytes = [5, 6];
  event(READABLE);
  const into = new Uint8Array(4);
  t.is(socket.read(into), 2);
  t.deepEqual(reported, ["opened", "writable", "readable"]);
});

test("what was not read before the end can be read after it, and the native side is given back", (t) => {
  const { socket, native, reported, found, event } = rig();
  found("192.0.2.1");
  event(OPENED);
  native.bytes = [1, 2, 3, 4, 5];
  event(READABLE | CLOSED, "end");
  t.deepEqual(reported, ["opened", "readable", "closed: end"]);
  t.is(native.closed, 0);
  const into = new Uint8Array(3);
  t.is(socket.read(into), 3);
  t.is(socket.read(into), 2);
  t.is(socket.read(into), 0);
  t.is(native.closed, 1);
  t.is(socket.write(Uint8Array.of(1)), 0);
});

test("after a close nothing is reported, whenever it comes", (t) => {
  const early = rig();
  early.socket.close();
  early.found("192.0.2.1");
  t.deepEqual([early.asked, early.reported], [[], []], "before the name was found");
  const late = rig();
  late.found("192.0.2.1");
  late.socket.close();
  late.event(OPENED | READABLE | CLOSED, "end");
  late.socket.close();
  t.deepEqual([late.reported, late.native.closed], [[], 1], "amid the handshake");
});

test("a name that is not found, and a connection that there is no room for, are said", (t) => {
  const nowhere = rig();
  nowhere.found(undefined);
  t.deepEqual(nowhere.reported, ["closed: name not found"]);
  const full = rig({ refuse: "TLS: no memory for another connection" });
  full.found("192.0.2.1");
  t.deepEqual(full.reported, ["closed: TLS: no memory for another connection"]);
});

test("what its listener throws ends the connection, and nothing reaches the engine", (t) => {
  const { native, reported, found, event } = rig({ throws: true });
  found("192.0.2.1");
  t.notThrows(() => event(OPENED));
  t.deepEqual(reported, ["opened", "closed: internal error"]);
  t.is(native.closed, 1);
});
