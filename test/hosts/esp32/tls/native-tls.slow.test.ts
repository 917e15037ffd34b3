// The board's TLS on this machine, with sanitizers: what it takes and refuses, and that it can be
// given up, or starved, at any moment. Chip case "tls" tries ciphers, large records and resumed
// sessions.
import { spawn } from "node:child_process";
import { X509Certificate } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createServer as createTlsServer } from "node:tls";
import test, { type ExecutionContext } from "ava";
import { argument } from "../../../arguments.js";
import { listen } from "../../../fakes/listen.js";
import { Authorities, type Issued, identityOf } from "../../../x509/authority.js";
import { answering, byMbedTls, type Case, cases } from "../../../x509/cases.js";
import { changes, titleOf } from "../../../x509/changes.js";
import { buildHarness, bundleOf, harness, missing } from "./build.js";

const made = new Authorities();
const folder = mkdtempSync(join(tmpdir(), "mote-tls-"));
test.after.always(() => {
  made.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface SetUp {
  readonly program: string;
  readonly root: Issued;
  readonly ca: string;
  readonly cases: readonly Case[];
  readonly good: Case;
}

let ready: Promise<SetUp> | undefined;
function setUp(): Promise<SetUp> {
  ready ??= (async () => {
    const all = cases(made);
    const program = await buildHarness(folder);
    return { program, root: all.root, ca: all.root.certPath, cases: all.cases, good: all.cases[1]! };
  })();
  return ready;
}

const reason = missing();
const native = (title: string, work: (t: ExecutionContext) => Promise<void>): void => {
  if (reason) test.skip(`${title} (${reason})`, () => {});
  else
    test.serial(title, async (t) => {
      t.timeout(900_000);
      await work(t);
    });
};

/** `-- --every 1`: each allocation, which takes minutes. */
const STARVED_EACH = Number(argument("every") ?? 5);

/** The lines of a command of the harness, whose connections go to `server`. */
async function against(
  server: Server,
  command: string,
  count: number,
  ca: string | readonly string[] | undefined,
  name = "localhost",
  ask = "hello",
): Promise<string[]> {
  const { program } = await setUp();
  server.on("error", () => {});
  const port = await listen(server);
  try {
    return await harness(program, command, count, name, port, ask, ...[ca ?? []].flat());
  } finally {
    server.close();
  }
}

const visit = async (
  server: Server,
  ca: string | readonly string[] | undefined,
  name?: string,
): Promise<string | undefined> => (await against(server, "visit", 1, ca, name))[0];

native("a server is taken or refused as its certificates deserve", async (t) => {
  const { cases: all, ca } = await setUp();
  for (const one of all)
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
      const expected = one.refused ? `0 ${byMbedTls(one.refused)}` : "opened 7 end";
      t.is(await visit(answering(one, { maxVersion }), ca), expected, `${one.title}, ${maxVersion}`);
    }
});

native("an address is found in a certificate as a name is, and PEM is taken as DER is", async (t) => {
  const { good, root, ca } = await setUp();
  t.is(await visit(answering(good), ca, "127.0.0.1"), "opened 7 end");
  t.is(await visit(answering(good), ca, "127.0.0.2"), "0 certificate: for another name");
  const der = join(folder, "root.der");
  writeFileSync(der, Buffer.from(root.cert.replace(/-----[^-]+-----|\s/g, ""), "base64"));
  t.is(await visit(answering(good), der), "opened 7 end");
  t.is(await visit(answering(good), undefined), "0 certificate: unknown issuer");
});

const TAKEN = "opened 7 end";
const UNKNOWN = "0 certificate: unknown issuer";

native("one authority that was renewed under its key serves beside the one that is over", async (t) => {
  const { shown, first, expired } = changes(made);
  const server = () => answering(shown.ofFirst);
  t.is(await visit(server(), [expired.certPath]), "0 certificate: expired");
  t.is(await visit(server(), [expired.certPath, first.certPath]), TAKEN);
  t.is(await visit(server(), [first.certPath, expired.certPath]), TAKEN);
});

native("a server of the old CA or of the new one is accepted by a board with both", async (t) => {
  const { shown, first, second } = changes(made);
  const { ofFirst, ofSecond, crossSigned, ofStranger } = shown;
  const look = (one: Pick<Case, "chain">, ca: readonly string[]) => visit(answering(one), ca);
  for (const both of [
    [first.certPath, second.certPath],
    [second.certPath, first.certPath],
  ]) {
    for (const one of [ofFirst, ofSecond, crossSigned]) t.is(await look(one, both), TAKEN);
    t.is(await look(ofStranger, both), UNKNOWN);
  }
});

native("CAs replace those of the image", async (t) => {
  const { shown, first, second } = changes(made);
  const bundle = join(folder, "bundle");
  writeFileSync(bundle, bundleOf(first.cert));
  process.env.BUNDLE = bundle;
  t.teardown(() => void delete process.env.BUNDLE);
  t.is(await visit(answering(shown.ofFirst), []), TAKEN);
  t.is(await visit(answering(shown.ofFirst), [second.certPath]), UNKNOWN);
});

/**
 * From and to when all of `chain` is valid, as the board is told: in seconds since 1970, 32 bits at
 * most.
 */
const datesOf = (chain: readonly Issued[]): string => {
  const read = chain.map(({ cert }) => new X509Certificate(cert));
  const from = read.map(({ validFrom }) => Date.parse(validFrom) / 1000);
  const to = read.map(({ validTo }) => Date.parse(validTo) / 1000);
  return `${Math.max(...from)} ${Math.min(...to, 0xffff_ffff)}`;
};

native("a chain's dates are told of one that is taken, or refused for its dates alone", async (t) => {
  const ca = "critical,CA:TRUE";
  const root = made.issue("root", undefined, { constraints: ca, days: [-100, 60_000] });
  const between = made.issue("between", root, { constraints: ca, days: [-10, 20_000] });
  const stranger = made.issue("root", undefined, { constraints: ca });
  const names = "DNS:localhost";
  const leaf = (days: readonly [number, number], issuer = root, name = names): Issued =>
    made.issue("server", issuer, { names: name, days });
  const bundle = join(folder, "dated");
  writeFileSync(bundle, bundleOf(root.cert));
  process.env.BUNDLE = bundle;
  t.teardown(() => void delete process.env.BUNDLE);
  const unknown = "0 0";
  const expectations: readonly (readonly [chain: readonly Issued[], said: string, dates: string])[] = [
    [[leaf([-30, 30])], TAKEN, "own"],
    [[leaf([-30, 50_000])], TAKEN, "own"],
    [[leaf([-30, 30], between), between], TAKEN, "own"],
    [[leaf([-30, -1])], "0 certificate: expired", "own"],
    [[leaf([1, 30])], "0 certificate: not valid yet", "own"],
    [[leaf([-30, -1], between), between], "0 certificate: expired", "own"],
    [[leaf([-30, -1], stranger)], UNKNOWN, unknown],
    [[leaf([1, 30], stranger)], UNKNOWN, unknown],
    [[leaf([-30, -1], root, "DNS:elsewhere")], "0 certificate: for another name", unknown],
  ];
  for (const by of [root.certPath, undefined])
    for (const [chain, said, dates] of expectations)
      for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
        const server = answering({ chain }, { maxVersion });
        const [line, told] = await against(server, "dates", 1, by);
        const where = `${chain.map((one) => titleOf(one)).join()} by ${by === undefined ? "the bundle" : "root"}`;
        t.is(line, said, where);
        t.is(told, dates === "own" ? datesOf(by === undefined ? chain : [...chain, root]) : dates, where);
      }
});

native("accepts a chain that goes on to an unknown or expired signer of a trusted root", async (t) => {
  const ca = "critical,CA:TRUE";
  const root = made.issue("root", undefined, { constraints: ca, days: [-100, 60_000] });
  const between = made.issue("between", root, { constraints: ca, days: [-10, 20_000] });
  const leaf = made.issue("server", between, { names: "DNS:localhost" });
  const older = made.issue("older", undefined, { constraints: ca });
  const stranger = made.issue("root", undefined, { constraints: ca });
  const crossed = (days: readonly [number, number], keyOf = root): Issued =>
    made.issue("root", older, { constraints: ca, days, keyOf });
  const own = [leaf, between];
  const bundle = join(folder, "crossed");
  writeFileSync(bundle, bundleOf(root.cert));
  process.env.BUNDLE = bundle;
  t.teardown(() => void delete process.env.BUNDLE);
  const expired = made.issue("server", between, { names: "DNS:localhost", days: [-30, -1] });
  const elsewhere = made.issue("server", between, { names: "DNS:elsewhere" });
  const forged = made.issue("server", undefined, { names: "DNS:localhost" });
  const expectations: readonly (readonly [
    chain: readonly Issued[],
    said: string,
    dates?: readonly Issued[],
  ])[] = [
    [[...own, crossed([-10, 30])], TAKEN, own],
    [[...own, crossed([-30, -1])], TAKEN, own],
    [[...own, crossed([1, 30])], TAKEN, own],
    [[...own, root], TAKEN, own],
    [[expired, between, crossed([-30, -10])], "0 certificate: expired", [expired, between]],
    [[elsewhere, between, crossed([-10, 30])], "0 certificate: for another name"],
    [[forged, between, crossed([-10, 30])], UNKNOWN],
    // A root of the same name, which did not sign the chain.
    [[...own, stranger], TAKEN, own],
    [[made.issue("server", stranger, { names: "DNS:localhost" }), crossed([-10, 30], stranger)], UNKNOWN],
  ];
  // The bundle, and the root itself as an own CA.
  for (const by of [[], [root.certPath]])
    for (const [chain, said, dates] of expectations) {
      const [line, told] = await against(answering({ chain }), "dates", 1, by);
      const where = `${chain.map((one) => titleOf(one)).join()} by ${by.map((path) => basename(path)).join()}`;
      t.is(line, said, where);
      const up = by.includes(root.certPath) ? [root] : [];
      if (dates) t.is(told, datesOf([...dates, ...up]), where);
      else t.is(told, "0 0", where);
    }
});

native("what is not TLS, and what ends amid it, is said in words", async (t) => {
  const { ca } = await setUp();
  const noTls = "0 TLS: the other side does not speak it (a port for http?)";
  const http = createServer(
    (socket) => void socket.on("error", () => {}).end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  t.is(await visit(http, ca), noTls);
  const large = createServer(
    (socket) => void socket.on("error", () => {}).end(Buffer.from([22, 3, 3, 255, 255, 2, 0, 0])),
  );
  t.is(await visit(large, ca), noTls);
  const silent = createServer((socket) => void socket.destroy());
  t.is(await visit(silent, ca), "0 TLS: no agreement with the other side");
});

native("handshakes follow each other, as the memory for two is not there", async (t) => {
  const { good, ca } = await setUp();
  const [line] = await against(answering(good), "crowd", 4, ca);
  t.is(line, "4 answered, 1 handshakes at once");
});

native("a server that is silent amid a handshake keeps the others waiting for seconds only", async (t) => {
  const { good, ca } = await setUp();
  const others = answering(good);
  let silent = 0;
  const server = createServer((socket) => {
    socket.on("error", () => {});
    if (silent++ > 0) others.emit("connection", socket);
  });
  const [line] = await against(server, "crowd", 3, ca);
  t.is(line, "3 answered, 2 handshakes at once");
});

/** Of rogue.c: what comes once the handshake is over. */
const ROGUES: Readonly<Record<string, string>> = {
  pieces: "opened 0 TLS: messages out of order",
  longest: "opened 0 TLS: received data cannot be decrypted",
};

native("what no good server says once the handshake is over ends the connection", async (t) => {
  const { program, good, ca } = await setUp();
  const { certPath, keyPath } = good.chain[0]!;
  for (const [kind, expected] of Object.entries(ROGUES)) {
    const rogue = spawn(program, ["rogue", kind, certPath, keyPath]);
    const [port] = await once(rogue.stdout, "data");
    const [line] = await harness(program, "visit", 1, "localhost", Number(port), "hello", ca);
    t.is(line, expected, kind);
    rogue.kill();
  }
});

native("a flood of warnings leaves the others their turn, and its end is heard", async (t) => {
  const { program, good, ca } = await setUp();
  const { certPath, keyPath } = good.chain[0]!;
  const rogue = spawn(program, ["rogue", "warnings", certPath, keyPath]);
  t.teardown(() => rogue.kill());
  const [port] = await once(rogue.stdout, "data");
  const [line, received] = await harness(program, "flood", 1, "localhost", Number(port), "hello", ca);
  t.is(line, "opened 6 end");
  t.log(received);
  const [, most] = /^received (\d+) in a step$/.exec(received ?? "") ?? [];
  // Of 2 MB; the last warning came whole.
  t.true(Number(most) < 20_480 + 40, received);
});

/** More than the ring of a connection holds. */
const LONG_ASK = `${Array.from({ length: 1500 }, (_, i) => i).join(" ")}.`;

native("a ticket amid half a sent record costs no byte, and repeats none", async (t) => {
  const { good, ca } = await setUp();
  for (const refusals of [0, 1, 2, 3]) {
    let heard = "";
    const server = createTlsServer({ ...identityOf(good.chain), minVersion: "TLSv1.3" }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", (bytes) => {
        heard += bytes;
        if (heard.endsWith(".")) socket.end("heard");
      });
    });
    const [line] = await against(server, "blocked", refusals, ca, "localhost", LONG_ASK);
    t.is(line, "opened 5 end");
    t.is(heard, LONG_ASK, `refused ${refusals} times`);
  }
});

/** Of this machine's 64 bits: a board's take less. */
const AT_REST_BYTES = 10_000;

native("a connection that waits takes little: no buffer for a record, no ring, no certificate", async (t) => {
  const { good, ca } = await setUp();
  for (const version of ["TLSv1.2", "TLSv1.3"] as const) {
    const more = { minVersion: version, maxVersion: version } as const;
    const server = createTlsServer({ ...identityOf(good.chain), ...more }, (socket) => {
      socket.on("error", () => {});
      socket.on("data", () => socket.write("answer"));
    });
    const [line] = await against(server, "rest", 4, ca);
    t.log(version, line);
    t.true(Number.parseInt(line!, 10) <= AT_REST_BYTES, line);
  }
});

native("a thousand connections leave nothing behind", async (t) => {
  const { good, ca } = await setUp();
  const [line] = await against(answering(good), "many", 1000, ca);
  t.log(line);
  const [, drift] = /drift (-?\d+)$/.exec(line ?? "") ?? [];
  t.true(Math.abs(Number(drift)) < 512, line);
});

native("a connection can be given up at any moment", async (t) => {
  const { good, ca } = await setUp();
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
    for (const fresh of [1, 0]) {
      const [line] = await against(answering(good, { maxVersion }), "cancel", fresh, ca);
      t.log(`${maxVersion}: ${line}`);
      t.regex(line ?? "", /^(?:[1-9]\d+) cancelled, then opened$/);
    }
});

native("any allocation of a connection may fail", async (t) => {
  const { good, ca } = await setUp();
  for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const) {
    const [line] = await against(answering(good, { maxVersion }), "starve", STARVED_EACH, ca);
    t.log(`${maxVersion}: ${line}`);
    t.regex(line ?? "", /^\d{3,} allocations failed, \d+ opened all the same, then opened$/);
  }
});
