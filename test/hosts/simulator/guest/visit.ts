import type { Host } from "../../../../src/port.js";

const LIMIT_MS = 15_000;

/** Connects by TLS, says "hello" and reads until its end: how many bytes came, and why it ended. */
export function fetchAll(host: Host, name: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const into = new Uint8Array(1000);
    let bytes = 0;
    const read = (): void => {
      for (let count = socket.read(into); count > 0; count = socket.read(into)) bytes += count;
    };
    const done = (why: string): void => {
      stop();
      socket.close();
      resolve(`${bytes} ${why}`);
    };
    const stop = host.clock.timer(8 * LIMIT_MS, () => done("late"));
    const socket = host.open(name, port, true, (what, reason) => {
      if (what === "opened") socket.write(host.encode("hello"));
      if (what === "readable") read();
      if (what === "closed") {
        read();
        done(reason ?? "");
      }
    });
  });
}

/** Connects by TLS, and gives it up after so many ms: what was heard until then. */
export function abandon(host: Host, name: string, port: number, ms: number): Promise<string> {
  return new Promise((resolve) => {
    let heard = "nothing";
    const socket = host.open(name, port, true, (what) => {
      heard = what;
    });
    host.clock.timer(ms, () => {
      socket.close();
      resolve(heard);
    });
  });
}
