import type { Host } from "../../../../src/port.js";

const LIMIT_MS = 15_000;

/** Connects by TLS, says "hello" and waits: what came back, or why there was nothing. */
export function visit(host: Host, name: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const into = new Uint8Array(1000);
    let opened = false;
    const done = (what: string): void => {
      stop();
      socket.close();
      resolve(what);
    };
    const stop = host.clock.timer(LIMIT_MS, () => done(opened ? "no answer" : "not opened"));
    const socket = host.open(name, port, true, (what, reason) => {
      if (what === "opened") {
        opened = true;
        socket.write(host.encode("hello"));
      }
      if (what === "readable") done(`read ${host.decode(into.slice(0, socket.read(into)))}`);
      if (what === "closed") done(`closed ${reason}`);
    });
  });
}
