// A local platform that a command starts for its own device. Both keep their state in a folder for
// each port, so that a device finds the platform again that knows its token.
import { createServer } from "node:net";
import { join } from "node:path";

const FIRST_PORT = 8080;
const PORTS = 10;

export interface Place {
  readonly port: number;
  /** State directories. */
  readonly platform: string;
  readonly device: string;
}

/** The first free port from 8080 on, with its folders below `folder`. Throws if none is free. */
export async function freePlace(folder: string, port?: number): Promise<Place> {
  const ports = port === undefined ? Array.from({ length: PORTS }, (_, i) => FIRST_PORT + i) : [port];
  for (const one of ports)
    if (port !== undefined || (await isFree(one))) {
      const own = join(folder, String(one));
      return { port: one, platform: join(own, "platform"), device: join(own, "device") };
    }
  throw new Error(`the ports ${FIRST_PORT} to ${FIRST_PORT + PORTS - 1} are in use`);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen(port, "127.0.0.1", () => probe.close(() => resolve(true)));
  });
}
