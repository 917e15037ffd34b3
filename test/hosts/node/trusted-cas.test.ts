// The CAs of a device on Node, given in place of its own.
import { createServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { opener } from "../../../hosts/node/sockets.js";
import { listen } from "../../fakes/listen.js";
import { Authorities, type Issued, identityOf } from "../../x509/authority.js";
import { changes, type Shown } from "../../x509/changes.js";

const made = new Authorities();
const { first, second, expired, shown } = changes(made);
test.after.always(() => made.remove());

/** For each list of CAs, whether it accepts a server that shows this chain. */
async function accepted(t: ExecutionContext, { chain }: Shown, lists: readonly string[]): Promise<boolean[]> {
  const server = createServer(identityOf(chain), (socket) => socket.on("error", () => {}));
  server.on("tlsClientError", () => {});
  const port = await listen(server, t);
  const tries = lists.map(
    (ca) =>
      new Promise<boolean>((resolve) => {
        const socket = opener({ ca })("localhost", port, true, (what) => {
          if (what !== "opened" && what !== "closed") return;
          socket.close();
          resolve(what === "opened");
        });
      }),
  );
  return Promise.all(tries);
}

test("a server is accepted if a valid CA of those that are given vouches for it", async (t) => {
  const sets: readonly Issued[][] = [[first], [first, second], [second], [expired], [expired, second]];
  const lists = sets.map((set) => set.map(({ cert }) => cert).join("\n"));
  for (const [what, one] of Object.entries(shown)) {
    const expected = sets.map((set) => set.some((issued) => one.by.includes(issued)));
    t.deepEqual(await accepted(t, one, lists), expected, what);
  }
});

test("a certificate that Node cannot read ends in a reason, not in an exception", async (t) => {
  const broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
  t.deepEqual(await accepted(t, shown.ofFirst, [broken]), [false]);
});
