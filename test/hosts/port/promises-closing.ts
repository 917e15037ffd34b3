import { check, pattern, pause, same, until } from "./check.js";
import { Line } from "./line.js";
import type { Promised } from "./promised.js";

/** How connections end, and those that never begin. */
export const closingPromises: readonly Promised[] = [
  {
    title: "socket: after close() nothing is called, nothing is taken, and the peer sees the end",
    needs: "listen",
    async run(host, tools) {
      let ended = 0;
      const place = await tools.listen({
        bytes: (peer) => {
          for (let n = 0; n < 5; n++) peer.write(pattern(2000));
        },
        closed: () => ended++,
      });
      const line = new Line(host, place);
      await line.saw("opened");
      line.socket.write(pattern(10));
      line.socket.close();
      line.socket.close();
      const before = line.events.length;
      same(line.socket.write(pattern(10)), 0, "write");
      same(line.socket.read(new Uint8Array(10)), 0, "read");
      await until(host, () => ended > 0, "the end");
      await pause(host, 50);
      same(line.events.length, before, "events");
    },
  },
  {
    title: "socket: closed by the agent while it opens, it is never opened",
    needs: "listen",
    async run(host, tools) {
      const line = new Line(host, await tools.listen({}));
      line.socket.close();
      await pause(host, 100);
      same(line.events.length, 0, "events");
    },
  },
  {
    title: "socket: closed by the agent in the middle of an event, nothing follows",
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({
        opened(peer) {
          peer.write(pattern(10));
          peer.end();
        },
      });
      const line: Line = new Line(host, place, { opened: () => line.socket.close() });
      await line.saw("opened");
      await pause(host, 50);
      same(line.events.join(), "opened", "events");
    },
  },
  {
    title: 'socket: a broken connection is closed once, with a reason that is not "end"',
    needs: "listen",
    async run(host, tools) {
      const place = await tools.listen({ bytes: (peer) => peer.reset() });
      const line = new Line(host, place);
      await line.saw("opened");
      line.socket.write(pattern(10));
      await line.saw("closed");
      await pause(host, 30);
      same(line.count("closed"), 1, "closed");
      check(line.reason !== "end" && line.reason !== undefined, `reason ${line.reason}`);
      same(line.socket.write(pattern(10)), 0, "write");
    },
  },
  {
    title:
      "socket: where nobody listens it is closed without having been opened, and the reason names no address",
    needs: "nowhere",
    async run(host, tools) {
      const place = await tools.nowhere();
      const line = new Line(host, place);
      await line.saw("closed");
      await pause(host, 30);
      same(line.events.join(), "closed", "events");
      check(
        !line.reason?.includes(place.name) && !line.reason?.includes(`${place.port}`),
        `reason ${line.reason}`,
      );
      check((line.reason?.length ?? 0) <= 80, "a long reason");
    },
  },
  {
    title: "socket: to a name that nobody knows it is closed without having been opened",
    needs: "unknown",
    async run(host, tools) {
      const line = new Line(host, tools.unknown);
      await line.saw("closed");
      same(line.events.join(), "closed", "events");
      check(!line.reason?.includes(tools.unknown.name), `reason ${line.reason}`);
    },
  },
];
