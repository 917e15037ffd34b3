// TLS in front of a platform, by an authority that nobody knows.
import type { AddressInfo } from "node:net";
import { Authorities } from "../../x509/authority.js";
import { tlsFront } from "../device/tls-front.js";

interface Teardown {
  teardown(work: () => unknown): void;
}

/** Where TLS ends, and the certificate to trust. */
export async function secured(t: Teardown, to: number): Promise<{ url: string; ca: string }> {
  const made = new Authorities();
  const root = made.issue("private authority", undefined, { constraints: "critical,CA:TRUE" });
  // The SDK's TLS needs an intermediate certificate.
  const between = made.issue("between", root, { constraints: "critical,CA:TRUE" });
  const { cert, key } = made.issue("platform", between, { names: "DNS:localhost" });
  const server = await tlsFront({ cert: cert + between.cert, key }, to);
  t.teardown(() => {
    server.close();
    made.remove();
  });
  return { url: `https://localhost:${(server.address() as AddressInfo).port}`, ca: root.cert };
}
