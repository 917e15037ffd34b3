// Servers at free ports of this machine.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Returns the port. The server closes with the test `t`. */
export async function listen(server: Server, t?: { teardown(end: () => unknown): void }): Promise<number> {
  t?.teardown(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

/** A port where no server listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  await once(server.close(), "close");
  return port;
}
