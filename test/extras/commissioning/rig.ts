// Commissioning without a board: the page over memory, a platform, and a Wi-Fi that the test owns.
import { Commissioning } from "../../../extras/commissioning/commissioning.js";
import { PageServer } from "../../../extras/commissioning/page-server.js";
import { checkPlatform } from "../../../extras/commissioning/platform-check.js";
import type { PageContext } from "../../../extras/commissioning/respond.js";
import {
  finishInterrupted,
  readStoredSettings,
  storeSettings,
} from "../../../extras/commissioning/stored-settings.js";
import type { Finding, Values } from "../../../extras/commissioning/values.js";
import { type FakeHost, type FakeHostOptions, fakeHost } from "../../fakes/host.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";

export const PROOF = "0123456789abcdef0123456789abcdef";
export const URL = "http://platform.test";
export const GOOD = { ssid: "home", password: "correct horse", url: URL, key: KEY, secret: SECRET };
export const TOKEN = "TOKEN-of-the-owner";

export interface RigOptions extends FakeHostOptions {
  readonly before?: Values;
  /** What joining finds. */
  readonly join?: (values: Values) => Finding | undefined;
}

export function rig(options: RigOptions = {}) {
  const host = fakeHost(options);
  const platform = new FakePlatform(host.clock, host.net);
  const { join = () => undefined } = options;
  finishInterrupted(host, () => {});
  const before = { ...options.before, ...defined(readStoredSettings(host, options.before?.url)) };
  const [closed, joined]: [boolean[], Values[]] = [[], []];
  const commissioning = new Commissioning({
    clock: host.clock,
    before,
    check: async (values, isSame, report) => {
      report("Joining the Wi-Fi");
      joined.push(values);
      await new Promise<void>((resolve) => host.clock.timer(3000, resolve));
      const finding = join(values);
      if (finding) return finding;
      report("Asking the platform");
      return checkPlatform(host, values, isSame);
    },
    storeSettings: (values, isSame) => storeSettings(host, values, isSame),
    closed: (done) => closed.push(done),
  });
  const entry = commissioning.entry();
  const context: PageContext = { commissioning, name: "mote-fake-0001", own: "192.168.4.1", proof: PROOF };
  const server = new PageServer(context, host);
  /** Sends bytes as they are, in these pieces, and gives all that came back. */
  const send = (...pieces: (string | Uint8Array)[]) => visit(host, server, pieces);
  commissioning.open();
  return {
    ...{ host, platform, commissioning, entry, context, send },
    /** What commissioning closed with, and the networks that were joined. */
    ...{ closed, joined },
    get: (path = "/", headers: Record<string, string> = {}) =>
      send(`GET ${path} HTTP/1.1\r\n${lines({ Host: "192.168.4.1", ...headers })}\r\n`),
    /** As the page's form does. */
    post(values: Values & { proof?: string }, headers: Record<string, string> = {}) {
      const body = new URLSearchParams({ proof: PROOF, ...(values as Record<string, string>) }).toString();
      const sent = {
        Host: "192.168.4.1",
        Origin: "http://192.168.4.1",
        "Sec-Fetch-Site": "same-origin",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": String(body.length),
        ...headers,
      };
      return send(`POST / HTTP/1.1\r\n${lines(sent)}\r\n${body}`);
    },
    /** Until it is neither open nor checking, or open again. */
    checked: async () => {
      await host.clock.runUntil(() => commissioning.state !== "checking");
    },
  };
}

const lines = (headers: Record<string, string>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("");

export const defined = (values: Values): Values =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

/** What comes back for one connection. `cookie`: NAME=VALUE of the cookie that comes with it. */
async function visit(host: FakeHost, server: PageServer, pieces: readonly (string | Uint8Array)[]) {
  const out: Uint8Array[] = [];
  const arrived: Uint8Array[] = [];
  let closed = false;
  let notify = (_what: "opened" | "readable" | "writable" | "closed"): void => {};
  server.accept((event) => {
    notify = event;
    return {
      write: (bytes) => {
        // As a small window: the rest is offered again.
        const taken = bytes.slice(0, 300);
        out.push(taken);
        if (taken.length < bytes.length) host.clock.timer(0, () => event("writable"));
        return closed ? 0 : taken.length;
      },
      read: (into) => {
        const first = arrived.shift();
        if (!first) return 0;
        into.set(first.subarray(0, into.length));
        if (first.length > into.length) arrived.unshift(first.subarray(into.length));
        return Math.min(first.length, into.length);
      },
      close: () => {
        closed = true;
      },
    };
  });
  notify("opened");
  for (const piece of pieces) {
    arrived.push(typeof piece === "string" ? Buffer.from(piece) : piece);
    notify("readable");
    await host.clock.advance(0);
  }
  const text = Buffer.concat(out).toString();
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0),
    text,
    closed,
    location: /\r\nLocation: (.*)\r\n/.exec(text)?.[1],
    cookie: /\r\nSet-Cookie: ([^;]*);/.exec(text)?.[1],
  };
}
