import { connect } from "node:net";
import { createServer, type SecureVersion, type Server } from "node:tls";

/**
 * TLS that ends here, before what listens at `to` on this machine. `at`: 0, any free port.
 * `newest`: of TLS; what it has, unless it is named.
 */
export async function tlsFront(
  identity: { readonly cert: string; readonly key: string },
  to: number,
  at = 0,
  newest?: SecureVersion,
): Promise<Server> {
  const { cert, key } = identity;
  const server = createServer({ cert, key, ...(newest && { maxVersion: newest }) }, (socket) => {
    const below = connect(to, "127.0.0.1");
    socket.pipe(below).pipe(socket);
    for (const [one, other] of [
      [socket, below],
      [below, socket],
    ] as const) {
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((done) => server.listen(at, "127.0.0.1", done));
  return server;
}
