// TLS in front of a platform, by an authority that nobody knows.
import { type AddressInfo, connect } from "node:net";
import { createServer } from "node:tls";
import { Authorities } from "../shared/x509/authority.js";

interface Teardown {
  teardown(work: () => unknown): void;
}

/** Where TLS ends, and the certificate to trust. */
export async function secured(t: Teardown, to: number): Promise<{ url: string; ca: string }> {
  const made = new Authorities();
  const root = made.issue("private authority", undefined, { constraints: "critical,CA:TRUE" });
  const { cert, key } = made.issue("platform", root, { names: "DNS:localhost" });
  const server = createServer({ cert, key }, (socket) => {
    const below = connect(to, "127.0.0.1");
    socket.pipe(below).pipe(socket);
    socket.on("error", () => socket.destroy());
    below.on("error", () => below.destroy());
    socket.on("close", () => below.destroy());
    below.on("close", () => socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.close();
    made.remove();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, ca: root.cert };
}
