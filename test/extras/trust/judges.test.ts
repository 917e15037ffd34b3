// Node's TLS takes a server by the CAs that a device trusts, in any order. The board's TLS has the same table in native-tls.slow.test.ts.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import test from "ava";
import { probe } from "../../../extras/trust/probe.js";
import { clock } from "../../../hosts/node/clock.js";
import { opener } from "../../../hosts/node/sockets.js";
import { Authorities, type Issued } from "./x509/authority.js";
import { changes, titleOf } from "./x509/changes.js";

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
      const ca = trusted.map(({ cert }) => cert);
      const target = { name: "localhost", port, secure: true, prefix: "", authority: "" };
      const why = await probe(clock, opener({ ca }), target);
      t.is(why === undefined, isTaken, `${where}: ${why}`);
    }
  });
