// Who judges certificates on Node and in the simulator agrees on what becomes of an authority; the board's judge has the same table in native-tls.slow.test.ts.
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import test from "ava";
import { clock } from "../../../../hosts/node/clock.js";
import { opener } from "../../../../hosts/node/sockets.js";
import { probe } from "../../../../hosts/shared/trust/probe.js";
import { refusal } from "../../../../hosts/shared/x509/chain.js";
import { Authorities, type Issued } from "../x509/authority.js";
import { changes, titleOf } from "../x509/changes.js";
import { der } from "./world.js";

const made = new Authorities();
const { first, second, expired, shown } = changes(made);
test.after.always(() => made.remove());

const SETS: readonly (readonly Issued[])[] = [
  [first],
  [second],
  [first, second],
  [second, first],
  [expired],
  [expired, first],
  [first, expired],
  [expired, second],
];

const byOurs = (chain: readonly Issued[], trusted: readonly Issued[]): string | undefined =>
  refusal(chain.map(der), "localhost", {
    authorities: trusted.map(der),
    now: Date.now(),
    signedBy: (one, issuer) => new X509Certificate(one.der).verify(new X509Certificate(issuer.der).publicKey),
  });

for (const [what, { chain, by }] of Object.entries(shown))
  test(`${what}: whoever trusts one of its authorities takes it, and nobody else`, async (t) => {
    const server = createServer(
      { cert: chain.map(({ cert }) => cert).join(""), key: chain[0]!.key },
      (socket) => socket.on("error", () => {}),
    );
    server.on("tlsClientError", () => {});
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    t.teardown(() => server.close());
    const { port } = server.address() as AddressInfo;
    for (const trusted of SETS) {
      const isTaken = trusted.some((one) => by.includes(one));
      const where = `by ${trusted.map((one) => (one === expired ? "one that is over" : titleOf(one))).join()}`;
      t.is(byOurs(chain, trusted) === undefined, isTaken, `${where}: ours`);
      // As hosts/shared/trust hands them over: what is over is left out where something else is there.
      const ca = trusted.filter((one) => trusted.length === 1 || one !== expired).map(({ cert }) => cert);
      const target = { name: "localhost", port, secure: true, prefix: "", authority: "" };
      const why = await probe(clock, opener({ ca }), target);
      t.is(why === undefined, isTaken, `${where}: Node's (${why})`);
    }
  });
