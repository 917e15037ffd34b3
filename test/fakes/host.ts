// A whole host in memory. Time, network and chance are the test's.
import { createHash } from "node:crypto";
import { decode } from "../../hosts/node/text.js";
import { pinStored, SecretRedactor } from "../../src/board-module.js";
import type { Digest, Host, LastRun, Redactor } from "../../src/port.js";
import type { LoggedStore, StorageLog } from "../../src/store.js";
import { FakeClock } from "./clock.js";
import { FakeFlash, FakeSlot } from "./flash.js";
import { FakeNet, type NetOptions } from "./net.js";
import "./invariants.js";

const LEVELS = ["info", "warn", "error"];
const DIGESTS = ["MD5", "SHA256", "SHA384", "SHA512"];

export class FakeStore implements LoggedStore {
  storageLog?: StorageLog | undefined;
  readonly values: Map<string, Uint8Array>;
  /** Every `set` and `delete` that was done, in order: the keys. */
  readonly changes: string[] = [];
  /** Return true to let a call fail. */
  fails: ((call: "set" | "delete", key: string) => boolean) | undefined;

  constructor(values = new Map<string, Uint8Array>()) {
    this.values = values;
  }

  get(key: string): Uint8Array | undefined {
    return this.values.get(key)?.slice();
  }

  set(key: string, value: Uint8Array): boolean {
    if (key.length > 15 || value.length > 4000) throw new Error(`store: ${key}, ${value.length} bytes`);
    if (this.fails?.("set", key)) return false;
    this.changes.push(key);
    this.values.set(key, value.slice());
    return true;
  }

  delete(key: string): boolean {
    if (this.fails?.("delete", key)) return false;
    this.changes.push(key);
    this.values.delete(key);
    return true;
  }
}

export interface FakeHostOptions {
  /** Of all that is random. Default 1. */
  seed?: number;
  /** ms since 1970 at the start; undefined: the host does not know the time. Default 2026-01-01. */
  wall?: number | undefined;
  net?: NetOptions;
  /** Share these to restart a device on what it kept. `blocks` is 0 sectors unless given. */
  clock?: FakeClock;
  network?: FakeNet;
  store?: FakeStore;
  blocks?: FakeFlash;
  slot?: FakeSlot;
  hardwareId?: string;
  lastRun?: LastRun;
}

export interface FakeHost extends Host {
  readonly redactor: Redactor;
  readonly clock: FakeClock;
  readonly net: FakeNet;
  readonly store: FakeStore;
  readonly blocks: FakeFlash;
  readonly slot: FakeSlot;
  /** `level: line` of every line. */
  readonly lines: string[];
  /** The reason of every restart asked for. */
  readonly restarts: string[];
}

const WALL = Date.UTC(2026, 0, 1);

export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  const clock = options.clock ?? new FakeClock("wall" in options ? options.wall : WALL);
  const net = options.network ?? new FakeNet(clock, options.net);
  const lines: string[] = [];
  const restarts: string[] = [];
  const encode = (text: string): Uint8Array => new TextEncoder().encode(text);
  const redactor = new SecretRedactor();
  const store = options.store ?? new FakeStore();
  // A restart does not know what was logged before it.
  store.storageLog = undefined;
  pinStored({ store, decode }, redactor);
  return {
    clock,
    net,
    store,
    blocks: options.blocks ?? new FakeFlash(0, 4096),
    slot: options.slot ?? new FakeSlot(64 * 4096, 4096),
    lines,
    restarts,
    open: net.open,
    digest: (algorithm) => (DIGESTS.includes(algorithm) ? digest(algorithm) : undefined),
    encode,
    decode,
    random: seededRandom(options.seed ?? 1),
    hardwareId: options.hardwareId ?? "fake-0001",
    log: (level, line) => {
      checkLine(level, line);
      lines.push(`${level}: ${redactor.clean(line)}`);
    },
    redactor,
    conceal: (secret) => redactor.conceal(secret),
    lastRun: options.lastRun,
    restart: (reason) => restarts.push(reason),
  };
}

/**
 * A line is for people: it says something, at a level there is. Its test fails otherwise, whatever
 * the agent would catch.
 */
function checkLine(level: string, line: string): void {
  if (LEVELS.includes(level) && /^[^\n]*\w[^\n]*$|^\*{3}$|^\(-\)$/.test(line)) return;
  void Promise.reject(new Error(`the agent logs "${line}" as "${level}"`));
}

function digest(algorithm: string): Digest {
  const hash = createHash(algorithm);
  return { write: (bytes) => hash.update(bytes), close: () => new Uint8Array(hash.digest()) };
}

/** A host's `random` that gives the same in every run. */
export function seededRandom(seed: number): Host["random"] {
  const next = randomBytes(seed);
  return (into) => {
    for (let i = 0; i < into.length; i++) into[i] = next();
  };
}

/** mulberry32: small, good enough for tests, the same everywhere. */
export function randomBytes(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) & 0xff;
  };
}
