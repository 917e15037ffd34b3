import { check, pattern, pause, same, sameBytes, until } from "./check.js";
import { join, Line } from "./line.js";
import type { Peer, Promised } from "./promised.js";

/** Writes `bytes` as the socket takes them, then lets go of them: a board has little memory. */
function pump(line: Line, bytes: Uint8Array): void {
  let at = 0;
  const more = (): void => {
    while (at < bytes.length) {
      const took = line.socket.write(bytes.subarray(at, at + 100_000));
      if (took === 0) return;
      at += took;
    }
    delete line.on.opened;
    delete line.on.writable;
  };
  line.on.opened = more;
  line.on.writable = more;
}

/** What goes well; promises-closing.ts has the ends. */
export const trafficPromises: readonly Promised[] = [
  {
    title: "socket: opened before anything else, and never from within open()",
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({ opened: (peer) => peer.write(pattern(10)) });
      const line = new Line(host, place);
      await line.saw("readable");
      same(line.events[0], "opened", "first event");
      same(line.count("opened"), 1, "opened");
      line.socket.close();
    },
  },
  {
    title: "socket: an echo comes back, read in pieces of any size",
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({ bytes: (peer, bytes) => peer.write(bytes) });
      const line: Line = new Line(host, place, { readable: () => line.drain(7) });
      pump(line, pattern(1000));
      await until(host, () => line.length >= 1000, "the echo");
      sameBytes(line.bytes, pattern(1000), "echo");
      line.socket.close();
    },
  },
  {
    title: "socket: what was written is a copy",
    needs: "listen",
    async run(host, tools) {
      const got: Uint8Array[] = [];
      const place = await tools.listen({ bytes: (_, bytes) => void got.push(bytes.slice()) });
      const line = new Line(host, place);
      await line.saw("opened");
      const given = pattern(500);
      const took = line.socket.write(given);
      given.fill(0);
      await until(host, () => join(got).length >= took, "the bytes");
      sameBytes(join(got), pattern(500).subarray(0, took), "bytes");
      line.socket.close();
    },
  },
  {
    title: 'socket: what arrived before the peer closed can be read after closed, whose reason is "end"',
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({
        opened(peer) {
          peer.write(pattern(3000));
          peer.end();
        },
      });
      const line = new Line(host, place);
      await line.saw("closed");
      same(line.reason, "end", "reason");
      line.drain(100);
      sameBytes(line.bytes, pattern(3000), "bytes");
      same(line.count("closed"), 1, "closed");
    },
  },
  {
    title: "socket: with a peer that does not read, write takes less, and the rest once it reads again",
    needs: "listen",
    async run(host, tools) {
      let peer: Peer | undefined;
      const got: Uint8Array[] = [];
      let arrived = 0;
      const place = await tools.listen({
        opened(opened) {
          peer = opened;
          opened.hold();
        },
        bytes(_, bytes) {
          got.push(bytes.slice());
          arrived += bytes.length;
        },
      });
      const line = new Line(host, place);
      await line.saw("opened");
      await until(host, () => peer !== undefined, "the peer");
      const bytes = pattern(6.4 * tools.bytes);
      let at = 0;
      let refused = 0;
      // The system's own buffers take some megabytes first.
      while (refused < 20) {
        // The buffer is the caller's again at once, whatever waits below.
        const piece = bytes.slice(at, at + 65_536);
        const took = line.socket.write(piece);
        piece.fill(0);
        at += took;
        if (took > 0) refused = 0;
        else refused++;
        check(at < bytes.length, "everything was taken, nobody reads");
        if (took < 65_536) await pause(host, 2);
      }
      same(line.count("closed"), 0, "closed");
      const before = line.count("writable");
      peer?.release();
      await until(host, () => line.count("writable") > before, "writable");
      await until(host, () => arrived >= at, "the bytes");
      sameBytes(join(got), bytes.subarray(0, at), "bytes");
      line.socket.close();
    },
  },
  {
    title: "socket: what is not read holds the peer back",
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({
        opened(peer) {
          peer.write(pattern(tools.bytes));
          peer.end();
        },
      });
      const line = new Line(host, place);
      await line.saw("readable");
      await pause(host, 50);
      same(line.count("closed"), 0, "closed though megabytes are not read");
      line.on.readable = () => line.drain();
      line.drain();
      await line.saw("closed");
      line.drain();
      same(line.length, tools.bytes, "length");
      sameBytes(line.bytes, pattern(tools.bytes), "bytes");
    },
  },
  {
    title: "socket: megabytes each way at once arrive whole",
    needs: "listen",
    async run(host, tools) {
      const got: Uint8Array[] = [];
      const place = await tools.listen({
        opened: (peer) => peer.write(pattern(tools.bytes, 3)),
        bytes: (_, bytes) => void got.push(bytes.slice()),
      });
      let back = 0;
      const line: Line = new Line(host, place, {
        readable: () => {
          line.drain(16_384);
          back++;
        },
      });
      pump(line, pattern(tools.bytes));
      const sum = (): number => got.reduce((total, piece) => total + piece.length, 0);
      await until(host, () => sum() >= tools.bytes && line.length >= tools.bytes, "the bytes");
      check(back > 0, "readable");
      sameBytes(join(got), pattern(tools.bytes), "bytes there");
      sameBytes(line.bytes, pattern(tools.bytes, 3), "bytes back");
      line.socket.close();
    },
  },
  {
    title: "socket: many at once do not mix",
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({ bytes: (peer, bytes) => peer.write(bytes) });
      const lines: Line[] = [];
      for (let n = 0; n < tools.sockets; n++) {
        const line: Line = new Line(host, place, { readable: () => line.drain(1024) });
        pump(line, pattern(5000, n * 100));
        lines.push(line);
      }
      await until(host, () => lines.every((line) => line.length >= 5000), "the echoes");
      lines.forEach((line, n) => {
        sameBytes(line.bytes, pattern(5000, n * 100), `echo ${n}`);
        line.socket.close();
      });
    },
  },
];
