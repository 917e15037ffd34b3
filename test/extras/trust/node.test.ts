// CAs of a device on Node: those of Node, of the command line, and those that were added. The board's
// TLS is tried by chip case "trust".
import { createServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { probe } from "../../../extras/trust/probe.js";
import { writeTrust } from "../../../extras/trust/trust-state.js";
import { clock } from "../../../hosts/node/clock.js";
import { opener } from "../../../hosts/node/sockets.js";
import { renewal } from "../../../hosts/node/trust.js";
import type { Host } from "../../../src/port.js";
import { idOf } from "../../../tools/cli/commands/trust/announce.js";
import { fakeHost } from "../../fakes/host.js";
import { listen } from "../../fakes/listen.js";
import { Authorities, der, type Issued, identityOf } from "./x509/authority.js";
import { changes, type Shown } from "./x509/changes.js";

const made = new Authorities();
const { first, second, expired, shown } = changes(made);
test.after.always(() => made.remove());

/** Whether each of `clients` comes to a handshake with a server that shows this chain. */
async function areTaken(
  t: ExecutionContext,
  { chain }: Shown,
  ...clients: Host["open"][]
): Promise<boolean[]> {
  const server = createServer(identityOf(chain), (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  const port = await listen(server, t);
  const target = { name: "localhost", port, secure: true, prefix: "", authority: "" };
  const taken: boolean[] = [];
  for (const open of clients) taken.push((await probe(clock, open, target)) === undefined);
  return taken;
}

test("a server is taken by whoever trusts one of its CAs that is valid, and by nobody else", async (t) => {
  const sets: readonly (readonly Issued[])[] = [
    ...[[first], [second], [first, second], [second, first]],
    ...[[expired], [expired, first], [first, expired], [expired, second]],
  ];
  for (const [what, one] of Object.entries(shown)) {
    const clients = sets.map((trusted) => opener({ ca: trusted.map(({ cert }) => cert) }));
    const expected = sets.map((trusted) => trusted.some((ca) => one.by.includes(ca)));
    t.deepEqual(await areTaken(t, one, ...clients), expected, what);
  }
});

/** What a device whose owner named nobody keeps after it took `added`. */
function hostWith(added: Issued, dropped: readonly string[] = []) {
  const host = { ...fakeHost(), clock };
  const kept = { by: "", sequence: 1, digest: "", added: [], dropped, waiting: [] };
  writeTrust(host, kept, [{ id: idOf(der(added)), der: der(added) }]);
  return host;
}

test("added CAs count beside Node's own and the command line's; other CAs of the owner begin again", async (t) => {
  const clients = [
    renewal(hostWith(second), undefined, false),
    renewal(hostWith(second, ["built-in"]), undefined, false),
    renewal(hostWith(second), first.cert, false),
    renewal(hostWith(second), first.cert, true),
  ].map(({ open }) => open);
  t.deepEqual(await areTaken(t, shown.ofSecond, ...clients), [true, true, true, false]);
  t.deepEqual(await areTaken(t, shown.ofFirst, ...clients), [false, false, true, true]);
});

test("a certificate that Node can't read ends in a reason, not in an exception", async (t) => {
  const host = hostWith(second);
  host.store.values.get("trust-1")!.fill(0, 4);
  const { open } = renewal(host, "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", false);
  t.deepEqual(await areTaken(t, shown.ofFirst, open), [false]);
});
