// The simulator's TLS, which is the SDK's own: it takes a server of a given CA, refuses the others, and survives all of them.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { derOf } from "../../../tools/moddable/simulator/device.js";
import { Authorities, type Issued } from "../../extras/trust/x509/authority.js";
import { Guest, guestProgram, inSimulator } from "./rig.js";

const made = new Authorities();
const ca = (): Issued => made.issue("root", undefined, { constraints: "critical,CA:TRUE" });
const below = (root: Issued): Issued => made.issue("between", root, { constraints: "critical,CA:TRUE" });
const leaf = (issuer: Issued, names = "DNS:localhost", days: [number, number] = [-1, 30]): Issued =>
  made.issue("server", issuer, { names, days });

interface SetUp {
  readonly guest: Guest;
  readonly root: Issued;
  readonly between: Issued;
}
let ready: Promise<SetUp> | undefined;
test.after.always(async () => {
  await (await ready)?.guest.close();
  made.remove();
});

function setUp(): Promise<SetUp> {
  ready ??= (async () => {
    const root = ca();
    const guest = new Guest(false);
    await guest.start(await guestProgram(), derOf(root.cert));
    return { guest, root, between: below(root) };
  })();
  return ready;
}

/** Answers "hello" with "welcome". */
function tlsServer(chain: readonly Issued[], more: TlsOptions = {}): Server {
  const cert = chain.map(({ cert: pem }) => pem).join("");
  return createTlsServer({ cert, key: chain[0]!.key, ...more }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.end("welcome"));
  });
}

async function visit(t: ExecutionContext, server: Server): Promise<unknown> {
  const { guest } = await setUp();
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return guest.call("visit", "localhost", (server.address() as AddressInfo).port);
}

const REFUSED = "closed certificate: refused by the SDK's TLS";

inSimulator("a server of the CA is taken if it sends an intermediate certificate", async (t) => {
  const { between, root } = await setUp();
  t.is(await visit(t, tlsServer([leaf(between), between])), "read welcome");
  t.is(await visit(t, tlsServer([leaf(root)])), REFUSED, "the SDK refuses a certificate that comes alone");
});

inSimulator("a server of another CA, for another name, or outside its dates is refused", async (t) => {
  const { between } = await setUp();
  const stranger = below(ca());
  for (const chain of [
    [leaf(stranger), stranger],
    [leaf(between, "DNS:elsewhere.test"), between],
    [leaf(between, "DNS:localhost", [-30, -1]), between],
    [leaf(between, "DNS:localhost", [1, 30]), between],
  ])
    t.regex(String(await visit(t, tlsServer(chain))), /^closed (?:certificate|TLS): /);
});

inSimulator("what does not speak TLS, speaks only a newer one, or hangs up is survived", async (t) => {
  const { between } = await setUp();
  const answering = (bytes: string | Buffer): Server => createServer((socket) => void socket.end(bytes));
  const servers = [
    answering("HTTP/1.1 400 Bad Request\r\n\r\n"),
    // A record of 65,535 bytes.
    answering(Buffer.from([22, 3, 3, 255, 255, 2, 0, 0])),
    tlsServer([leaf(between), between], { minVersion: "TLSv1.3" }),
    createServer((socket) => void socket.destroy()),
    createServer((socket) => void socket.once("data", () => socket.destroy())),
  ];
  for (const server of servers) t.regex(String(await visit(t, server)), /^closed /);
  t.is(await visit(t, tlsServer([leaf(between), between])), "read welcome");
});
