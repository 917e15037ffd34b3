// What the simulator's TLS makes of servers that are not what they should be: each is refused, with a reason, and survived.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { derOf } from "../../../tools/moddable/simulator/device.js";
import { Authorities, type Issued } from "../shared/x509/authority.js";
import { type Case, cases } from "../shared/x509/cases.js";
import { forger, UNSIGNED, unsigned } from "./forger.js";
import { Guest, guestProgram, inSimulator } from "./rig.js";

const made = new Authorities();
interface SetUp {
  readonly guest: Guest;
  readonly root: Issued;
  readonly cases: readonly Case[];
}
let ready: Promise<SetUp> | undefined;
test.after.always(async () => {
  await (await ready)?.guest.close();
  made.remove();
});

function setUp(): Promise<SetUp> {
  ready ??= (async () => {
    const { root, cases: all } = cases(made);
    const guest = new Guest(false);
    await guest.start(await guestProgram(), derOf(root.cert));
    return { guest, root, cases: all };
  })();
  return ready;
}

async function serving<T>(
  t: ExecutionContext,
  server: Server,
  use: (port: number) => Promise<T>,
): Promise<T> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return use((server.address() as AddressInfo).port);
}

/** Answers "hello" with "welcome". */
function tlsServer(one: Case, more: TlsOptions = {}): Server {
  const cert = one.chain.map(({ cert: pem }) => pem).join("");
  return createTlsServer({ cert, key: one.chain[0]!.key, ...more }, (socket) => {
    socket.on("error", () => {});
    socket.on("data", () => socket.end("welcome"));
  });
}

const visit = (t: ExecutionContext, guest: Guest, server: Server): Promise<unknown> =>
  serving(t, server, (port) => guest.call("visit", "localhost", port));

inSimulator("a server is taken or refused as its certificates deserve", async (t) => {
  const { guest, cases: all } = await setUp();
  for (const one of all) {
    const expected = one.refused ? `closed ${one.refused}` : "read welcome";
    t.is(await visit(t, guest, tlsServer(one)), expected, one.title);
  }
});

inSimulator("a port that speaks no TLS, and one that says nothing sensible, are refused", async (t) => {
  const { guest } = await setUp();
  const noTls = "closed TLS: the other side does not speak it (a port for http?)";
  const http = createServer((socket) => void socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  t.is(await visit(t, guest, http), noTls);
  // A record of 65,535 bytes: no board has room for it.
  const large = createServer((socket) => void socket.end(Buffer.from([22, 3, 3, 255, 255, 2, 0, 0])));
  t.is(await visit(t, guest, large), noTls);
});

inSimulator("a server that speaks only what is newer, or hangs up, is refused", async (t) => {
  const { guest, cases: all } = await setUp();
  const newer = tlsServer(all[0]!, { minVersion: "TLSv1.3" });
  t.regex(String(await visit(t, guest, newer)), /^closed TLS: /);
  const silent = createServer((socket) => void socket.destroy());
  t.regex(String(await visit(t, guest, silent)), /^closed /);
  const late = createServer((socket) => void socket.once("data", () => socket.destroy()));
  t.regex(String(await visit(t, guest, late)), /^closed /);
  t.is(await visit(t, guest, tlsServer(all[1]!)), "read welcome", "and survived");
});

inSimulator("another's certificates with keys that nobody signed are refused", async (t) => {
  const { guest, cases: all } = await setUp();
  const chain = all[1]!.chain.map(({ cert }) => cert);
  for (const [how, signature] of Object.entries(UNSIGNED)) {
    const answer = await visit(t, guest, forger(chain, signature));
    t.is(answer, "closed TLS: a key that the server did not sign", how);
  }
});

inSimulator("a certificate whose ECDSA signature is two zeros is refused", async (t) => {
  const { guest, root } = await setUp();
  // Of the authority's name, with a key of its own.
  const stranger = made.issue("root", undefined, { constraints: "critical,CA:TRUE" });
  const own = made.issue("own", stranger, { names: "DNS:localhost" });
  const chain = [{ ...own, cert: unsigned(own.cert) }, root];
  const forged = { title: "zeros", chain, refused: undefined };
  t.is(await visit(t, guest, tlsServer(forged)), "closed certificate: unknown issuer");
});

inSimulator("a server that goes straight to its end, without certificate or keys, is refused", async (t) => {
  const { guest } = await setUp();
  const random = Buffer.alloc(32, 7);
  const hello = Buffer.concat([Buffer.from([2, 0, 0, 38, 3, 3]), random, Buffer.from([0, 0xc0, 0x2f, 0])]);
  const record = (kind: number, body: Buffer): Buffer =>
    Buffer.concat([Buffer.from([kind, 3, 3, body.length >> 8, body.length & 255]), body]);
  const finished = Buffer.concat([Buffer.from([20, 0, 0, 12]), Buffer.alloc(12)]);
  const bytes = Buffer.concat([record(22, hello), record(22, finished)]);
  const server = createServer((socket) => {
    socket.on("error", () => {});
    socket.once("data", () => void socket.write(bytes));
  });
  t.is(await visit(t, guest, server), "closed TLS: no keys were agreed on");
});

inSimulator("after all that a good server is taken", async (t) => {
  const { guest, cases: all } = await setUp();
  t.is(await visit(t, guest, tlsServer(all[1]!)), "read welcome");
});
