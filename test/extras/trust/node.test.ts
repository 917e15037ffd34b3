// Authorities of a device on Node: those that Node brings, beside what was added.
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { probe } from "../../../extras/trust/probe.js";
import { writeTrust } from "../../../extras/trust/trust-state.js";
import { clock } from "../../../hosts/node/clock.js";
import { renewal } from "../../../hosts/node/trust.js";
import { idOf } from "../../../tools/cli/commands/trust/announce.js";
import { fakeHost } from "../../fakes/host.js";
import { der } from "./world.js";
import { Authorities, type Issued } from "./x509/authority.js";
import { changes, type Shown } from "./x509/changes.js";

const made = new Authorities();
const { first, second, shown } = changes(made);
test.after.always(() => made.remove());

/** What a device whose owner named nobody keeps after it took `added`. */
function hostWith(added: Issued, dropped: readonly string[] = []) {
  const host = { ...fakeHost(), clock };
  const kept = { by: "", sequence: 1, digest: "", added: [], dropped, waiting: [] };
  writeTrust(host, kept, [{ id: idOf(der(added)), der: der(added) }]);
  return host;
}

async function isTaken(
  t: ExecutionContext,
  { chain }: Shown,
  by: ReturnType<typeof renewal>,
): Promise<boolean> {
  const [leaf] = chain;
  const server = createServer({ cert: leaf!.cert, key: leaf!.key }, (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const target = { name: "localhost", port, secure: true, prefix: "", authority: "" };
  return (await probe(clock, by.open, target)) === undefined;
}

test("what was added stands beside Node's own, and in their place once they are dropped", async (t) => {
  for (const dropped of [[], ["built-in"]]) {
    const by = renewal(hostWith(second, dropped), undefined, false);
    t.true(await isTaken(t, shown.ofSecond, by), `without ${dropped}`);
    t.false(await isTaken(t, shown.ofFirst, by), `without ${dropped}`);
  }
});

test("the command line's authorities count with what was added; an owner's others begin again", async (t) => {
  const host = hostWith(second);
  const both = renewal(host, first.cert, false);
  t.true(await isTaken(t, shown.ofFirst, both));
  t.true(await isTaken(t, shown.ofSecond, both));
  const owners = renewal(host, first.cert, true);
  t.true(await isTaken(t, shown.ofFirst, owners));
  t.false(await isTaken(t, shown.ofSecond, owners));
});

test("a certificate that Node can't read ends in a reason, not in an exception", async (t) => {
  const host = hostWith(second);
  const bytes = host.store.values.get("trust-1")!;
  bytes.fill(0, 4);
  const by = renewal(host, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", false);
  t.false(await isTaken(t, shown.ofFirst, by));
});
