// The chip's TLS beside that of servers of every kind: what it takes and refuses, what it goes on
// with, and what it leaves behind.
import type { Server, TlsOptions } from "node:tls";
import { listen } from "../../fakes/listen.js";
import { Authorities } from "../../x509/authority.js";
import { answering, byMbedTls, type Case as Chain, cases } from "../../x509/cases.js";
import { type Case, check, type Figures } from "../case.js";
import { HOST_ADDRESS } from "../emulator.js";
import { authority } from "../rig.js";
import { CONTROL, openGuest, type PortBench } from "./port.js";

interface Numbers {
  free: number;
  leastFree: number;
  largest: number;
  tlsStackLeft: number;
  full: number;
  resumed: number;
  failed: number;
}

/** What servers may insist on. */
const DEMANDS: Readonly<Record<string, TlsOptions>> = {
  "TLS 1.3": { minVersion: "TLSv1.3" },
  "TLS 1.2": { maxVersion: "TLSv1.2" },
  "P-384": { ecdhCurve: "P-384" },
  X25519: { ecdhCurve: "X25519" },
  "AES-256": { ciphers: "TLS_AES_256_GCM_SHA384", minVersion: "TLSv1.3" },
  "AES-256 in TLS 1.2": { ciphers: "ECDHE-ECDSA-AES256-GCM-SHA384", maxVersion: "TLSv1.2" },
};
/** In records of 16 KiB. */
const LARGE = 200_000;
const VISITS = 10;
const OPENS = 200;
/** What a heap may differ by: a connection that lwIP still waits for. */
const NOISE = 1024;
const FORGOTTEN_MS = 150_000;
const REMEMBERED = 64;

class Visits {
  readonly #bench: PortBench;
  readonly #say: (line: string) => void;

  constructor(bench: PortBench, say: (line: string) => void) {
    this.#bench = bench;
    this.#say = say;
  }

  figures(): Promise<Numbers> {
    return this.#bench.line.call("figures") as Promise<Numbers>;
  }

  /** Calls one function of the program with where a server of this kind listens. */
  async with<T>(
    chain: Chain,
    options: TlsOptions,
    bytes: number,
    use: (port: number, server: Server) => Promise<T>,
  ): Promise<T> {
    const server = answering(chain, options, bytes);
    server.on("tlsClientError", () => {});
    const port = await listen(server);
    try {
      return await use(port, server);
    } finally {
      server.close();
    }
  }

  fetch(port: number): Promise<string> {
    return this.#bench.line.call("fetch", HOST_ADDRESS, port) as Promise<string>;
  }

  abandon(port: number, ms: number): Promise<string> {
    return this.#bench.line.call("abandon", HOST_ADDRESS, port, ms) as Promise<string>;
  }

  async expect(chain: Chain, options: TlsOptions, expected: string, title: string, bytes = 7): Promise<void> {
    const seen = await this.with(chain, options, bytes, (port) => this.fetch(port));
    this.#say(`${seen === expected ? "ok" : "BROKEN"}  ${title}: ${seen}`);
    check(seen === expected, `${title}: ${seen}, not ${expected}`);
  }
}

async function certificates(visits: Visits, all: readonly Chain[]): Promise<void> {
  for (const one of all) {
    // The chip knows the time. time.test.ts tests a board that does not know it yet.
    await visits.expect(
      one,
      {},
      one.refused === undefined ? "7 end" : `0 ${byMbedTls(one.refused)}`,
      one.title,
    );
  }
}

/**
 * ms of a visit: the first, and the mean of the others, which go on with its session. Their number
 * is checked.
 */
async function resumed(visits: Visits, good: Chain, maxVersion: "TLSv1.2" | "TLSv1.3"): Promise<Figures> {
  return await visits.with(good, { maxVersion }, 7, async (port, server) => {
    const timed = async (): Promise<number> => {
      const began = performance.now();
      const seen = await visits.fetch(port);
      check(seen === "7 end", `a visit ended as ${seen}`);
      return Math.round(performance.now() - began);
    };
    const before = await visits.figures();
    const first = await timed();
    const times: number[] = [];
    for (let i = 1; i < VISITS; i++) times.push(await timed());
    const after = await visits.figures();
    check(after.resumed - before.resumed === VISITS - 1, `${after.resumed - before.resumed} were resumed`);
    server.setTicketKeys(Buffer.alloc(48, 7));
    const refused = await timed();
    const last = await visits.figures();
    check(last.full - after.full === 1, "a refused ticket did not lead to a full handshake");
    const mean = Math.round(times.reduce((sum, ms) => sum + ms, 0) / times.length);
    return {
      [`${maxVersion}.full`]: first,
      [`${maxVersion}.resumed`]: mean,
      [`${maxVersion}.refused`]: refused,
    };
  });
}

/** Opened and closed many times, and given up at moments of the handshake. */
async function drift(visits: Visits, good: Chain, quick: boolean): Promise<Figures> {
  return await visits.with(good, {}, 7, async (port) => {
    const open = async (count: number): Promise<void> => {
      for (let i = 0; i < count; i++) {
        if (i % 4 === 3) await visits.abandon(port, (i * 37) % 400);
        else {
          const seen = await visits.fetch(port);
          check(seen === "7 end", `visit ${i} ended as ${seen}`);
        }
      }
      await new Promise((go) => setTimeout(go, 3000));
    };
    // lwIP remembers the last 16 that were closed for two minutes.
    await open(REMEMBERED);
    const before = await visits.figures();
    const count = quick ? OPENS / 4 : OPENS;
    await open(count);
    // What lwIP remembers of those that were given up comes back within its two minutes; what
    // leaked does not.
    let after = await visits.figures();
    for (const late = Date.now() + FORGOTTEN_MS; after.free <= before.free - NOISE && Date.now() < late; ) {
      await new Promise((go) => setTimeout(go, 5000));
      after = await visits.figures();
    }
    check(
      after.free > before.free - NOISE,
      `${before.free} bytes were free, ${after.free} are after ${count} connections`,
    );
    return { opened: count, freeBefore: before.free, freeAfter: after.free };
  });
}

export const TLS: Case = {
  name: "tls",
  title: "servers are taken or refused as they deserve, sessions go on, and connections leave nothing behind",
  async run({ say, quick }) {
    using made = new Authorities();
    await using bench = await openGuest("tls", CONTROL);
    const { ca, caKey } = authority();
    const { cases: all } = cases(made, { root: made.adopt(ca, caKey), address: HOST_ADDRESS });
    const good = all[1]!;
    const visits = new Visits(bench, say);
    await certificates(visits, all);
    for (const [what, demand] of Object.entries(DEMANDS)) await visits.expect(good, demand, "7 end", what);
    for (const maxVersion of ["TLSv1.2", "TLSv1.3"] as const)
      await visits.expect(good, { maxVersion }, `${LARGE} end`, `16 KiB records, ${maxVersion}`, LARGE);
    const handshakes = {
      ...(await resumed(visits, good, "TLSv1.2")),
      ...(await resumed(visits, good, "TLSv1.3")),
    };
    const heap = await drift(visits, good, quick);
    const { leastFree, tlsStackLeft } = await visits.figures();
    return { ...handshakes, ...heap, leastFree, tlsStackLeft };
  },
};
