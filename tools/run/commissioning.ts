// Commissioning of `mote run`: serves the setup page of extras/commissioning on loopback.
import { randomFillSync } from "node:crypto";
import { createServer, type Socket as NetSocket } from "node:net";
import { join } from "node:path";
import { nameOf, readAuthorities, toPem } from "../../extras/commissioning/authorities.js";
import { Commissioning } from "../../extras/commissioning/commissioning.js";
import { PageServer } from "../../extras/commissioning/page-server.js";
import { checkPlatform } from "../../extras/commissioning/platform-check.js";
import { makeProof } from "../../extras/commissioning/respond.js";
import {
  finishInterrupted,
  readStoredSettings,
  type SettingsHost,
  storeSettings,
} from "../../extras/commissioning/stored-settings.js";
import { addressOf, type Values } from "../../extras/commissioning/values.js";
import { clock } from "../../hosts/node/clock.js";
import { digest } from "../../hosts/node/digest.js";
import type { Fence } from "../../hosts/node/files.js";
import { hardwareId } from "../../hosts/node/hardware-id.js";
import { createHost } from "../../hosts/node/host.js";
import type { Lease } from "../../hosts/node/lease.js";
import { opener } from "../../hosts/node/sockets.js";
import { FileStore } from "../../hosts/node/store.js";
import { decode, encode } from "../../hosts/node/text.js";
import { none } from "../../hosts/none.js";
import { Agent } from "../../src/index.js";
import type { Host, Socket, SocketEvent } from "../../src/port.js";

const LOOPBACK = "127.0.0.1";
/** For the browser to take in what was sent. */
const LINGER_MS = 1000;

export interface CommissionOptions {
  readonly stateDir: string;
  readonly lease: Lease;
  /** What the command line says. */
  readonly given: Values;
  readonly deviceName?: string | undefined;
  /** Certificates (PEM) to trust beside the entered ones. */
  readonly ca?: string | undefined;
  readonly stop: AbortSignal;
  /** Called with the page's address once it is open. */
  open(url: string): void;
  readonly openMs?: number;
}

/** The settings stored at commissioning. The agent finishes an interrupted reset. */
export function storedValues(stateDir: string, fence: Fence, url: string | undefined): Values {
  const keeper = keeperOf(stateDir, fence);
  finishInterrupted(keeper, () => {});
  return readStoredSettings(keeper, url);
}

/**
 * What is in `first`, and what it leaves out. How a device proves itself comes from one of them,
 * and what is of another platform than the first one's is not for that.
 */
export function joined(first: Values, second: Values): Values {
  const address = addressOf(first.url);
  const isThere = address === undefined || !second.url || address === addressOf(second.url);
  const rest = isThere ? second : {};
  const { token, key, secret } = first.token || first.key ? first : rest;
  return { url: first.url ?? second.url, ca: first.ca ?? rest.ca, token, key, secret };
}

/** The certificates as Node takes them. */
export function pemOf(ca: string | undefined): string | undefined {
  const read = ca === undefined ? [] : readAuthorities(ca);
  return typeof read === "string" || read.length === 0 ? undefined : read.map(toPem).join("");
}

/**
 * The CAs (PEM) that a connection trusts: the owner's beside those of `--ca`. Undefined, Node's own,
 * if both are missing.
 */
export function trustedCas(entered: string | undefined, ca: string | undefined): string | undefined {
  return entered === undefined || ca === undefined ? (entered ?? ca) : `${entered}\n${ca}`;
}

/** Resolves when the page closes: true if it stored settings. Rejects on a disk error. */
export function commission(options: CommissionOptions): Promise<boolean> {
  const { stateDir, lease, given, deviceName, ca, openMs } = options;
  const stop = AbortSignal.any([options.stop, lease.lost]);
  const keeper = keeperOf(stateDir, lease);
  finishInterrupted(keeper, () => completeReset(stateDir));
  const before = definedOf(joined(given, readStoredSettings(keeper, given.url)));
  return new Promise((resolve, reject) => {
    const host = hostOf(stateDir, lease, keeper);
    const commissioning = new Commissioning({
      clock,
      wifi: false,
      before,
      check: (values, isSame, report) => {
        report("Asking the platform");
        const open = opener({ ca: trustedCas(pemOf(values.ca), ca) });
        const authorities = nameOf(host, values.ca);
        const trusting = { ...host, open, ...(authorities !== undefined && { authorities }) };
        return checkPlatform(trusting, values, isSame, deviceName);
      },
      storeSettings: (values, isSame) => storeSettings(keeper, values, isSame),
      closed: (done) => {
        pages?.close();
        server.close();
        resolve(done);
      },
      ...(openMs !== undefined && { openMs }),
    });
    let pages: PageServer | undefined;
    const server = createServer((stream) => {
      if (!pages?.accept((event) => new Visitor(stream, event))) stream.destroy();
    });
    server.on("error", reject);
    server.listen(0, LOOPBACK, () => {
      const { port } = server.address() as { port: number };
      const hosts = [`${LOOPBACK}:${port}`, `localhost:${port}`];
      const name = deviceName ?? `mote-${host.hardwareId}`;
      pages = new PageServer({ commissioning, name, hosts, isPortal: false, proof: makeProof(host) }, host);
      commissioning.open();
      options.open(`http://${hosts[0]}/`);
      if (stop.aborted) commissioning.close();
      stop.addEventListener("abort", () => commissioning.close(), { once: true });
    });
  });
}

function keeperOf(stateDir: string, fence: Fence): SettingsHost {
  return { store: new FileStore(join(stateDir, "store"), fence), digest, encode, decode, log: () => {} };
}

function hostOf(stateDir: string, fence: Fence, { store }: SettingsHost): Host {
  const random: Host["random"] = (into) => void randomFillSync(into);
  return { ...none, clock, store, digest, encode, decode, random, hardwareId: hardwareId(stateDir, fence) };
}

function completeReset(stateDir: string): void {
  const host = createHost({ stateDir, log: () => {} });
  try {
    new Agent(host, { baseUrl: "http://none", token: "none" });
  } finally {
    host.close();
  }
}

const definedOf = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** A connection that was taken, as the port has it. */
export class Visitor implements Socket {
  readonly #stream: NetSocket;
  #over = false;

  constructor(stream: NetSocket, event: (what: SocketEvent) => void) {
    this.#stream = stream;
    const notify = (what: SocketEvent) => (): void => {
      if (!this.#over) event(what);
    };
    stream.on("readable", notify("readable"));
    stream.on("drain", notify("writable"));
    stream.on("error", () => {});
    stream.on("close", notify("closed"));
  }

  write(bytes: Uint8Array): number {
    if (this.#over || this.#stream.writableNeedDrain) return 0;
    this.#stream.write(Buffer.from(bytes));
    return bytes.length;
  }

  read(into: Uint8Array): number {
    const chunk: Buffer | null = this.#over ? null : this.#stream.read();
    if (!chunk) return 0;
    into.set(chunk.subarray(0, into.length));
    if (chunk.length > into.length) this.#stream.unshift(chunk.subarray(into.length));
    return Math.min(chunk.length, into.length);
  }

  /** Sends pending answers and discards input, which could break them. */
  close(): void {
    if (this.#over) return;
    this.#over = true;
    this.#stream.end();
    this.#stream.resume();
    setTimeout(() => this.#stream.destroy(), LINGER_MS).unref();
  }
}
