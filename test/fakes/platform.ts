// The local platform's device API on the in-memory sockets and the clock that stands still: an
// agent and a platform in one event queue.
import type { Device } from "../../tools/platform/core/devices.js";
import { parseJson } from "../../tools/platform/core/json/json-reader.js";
import { PlatformCore } from "../../tools/platform/core/platform.js";
import type { RpcResult } from "../../tools/platform/core/rpc/rpc.js";
import { typed } from "../../tools/platform/core/values.js";
import { answerBytes } from "../../tools/platform/device/answer-bytes.js";
import type { DeviceResponse } from "../../tools/platform/device/messages.js";
import { DeviceApi } from "../../tools/platform/device-api.js";
import type { FakeClock } from "./clock.js";
import type { FakeNet, Peer } from "./net.js";
import { type SeenRequest, serve } from "./server.js";

export const KEY = "provision-key";
export const SECRET = "provision-secret";
const UNASKED_DATE = `Date: ${new Date(0).toUTCString()}\r\n`;

/** What becomes of one request: undefined passes it on; `drop` closes the connection, `hang` never answers, or an answer of the test's;
 *  `breakAt`: the connection breaks after so many bytes of the answer, head included; `answer` is handed the bytes of the platform's
 *  answer in place of the device. */
export type Fault =
  | "drop"
  | "hang"
  | "lose-answer"
  | { status: number; body?: unknown }
  | { breakAt: number }
  | { answer: (bytes: Uint8Array) => void }
  | undefined;

/** `core`: of a platform that there is already; default: one of its own, on the same clock. */
export class FakePlatform {
  readonly core: PlatformCore;
  readonly seen: SeenRequest[];
  /** Asked for each request; what it returns happens to it. */
  fault: ((request: SeenRequest) => Fault) | undefined;
  /** Called with each answer of the platform itself, before a fault gets at it. */
  onAnswer: ((request: SeenRequest, status: number, body: string) => void) | undefined;
  /** Answers have this time, in ms since 1970. */
  dates: (() => number) | undefined;
  readonly #clock: Pick<FakeClock, "now" | "wall">;

  constructor(
    clock: Pick<FakeClock, "now" | "wall" | "timer">,
    net: Pick<FakeNet, "onConnect">,
    core?: PlatformCore,
  ) {
    this.#clock = clock;
    if (core) {
      this.core = core;
      this.seen = this.#open(net);
      return;
    }
    const time = {
      now: () => clock.wall() ?? clock.now(),
      timer: (ms: number, due: () => void) => clock.timer(ms, due),
    };
    this.core = new PlatformCore({ clock: time });
    this.core.profiles.create({
      name: "agents",
      strategy: "ALLOW_CREATE_NEW_DEVICES",
      provisionKey: KEY,
      provisionSecret: SECRET,
    });
    this.seen = this.#open(net);
  }

  #open(net: Pick<FakeNet, "onConnect">): SeenRequest[] {
    const api = new DeviceApi({ core: this.core, ruleChain: true });
    return serve(net, (request) => this.#serve(api, request));
  }

  /** Calls `noted` with each value of telemetry that the platform takes, before it does. */
  noteValues(noted: (key: string, value: number, ts: number) => unknown): void {
    const { core } = this;
    const take = core.receiveTelemetry.bind(core);
    core.receiveTelemetry = (device, ts, values) => {
      for (const [key, value] of values) noted(key, Number(value), ts);
      take(device, ts, values);
    };
  }

  device(name: string): Device {
    const device = this.core.devices.byName(name);
    if (!device) throw new Error(`there is no device ${name}`);
    return device;
  }

  /** A device of the operator's making. */
  create(name: string, token: string): Device {
    return this.core.createDevice({ name, profileId: this.core.profiles.default.id }, token);
  }

  setShared(device: Device, values: Record<string, unknown>): void {
    this.core.saveAttributes(device, "SHARED_SCOPE", entries(values));
  }

  deleteShared(device: Device, keys: string[]): void {
    this.core.deleteAttributes(device, "SHARED_SCOPE", keys);
  }

  /** Values of a scope, as numbers and texts. */
  attributes(
    device: Device,
    scope: "CLIENT_SCOPE" | "SHARED_SCOPE" = "CLIENT_SCOPE",
  ): Record<string, unknown> {
    return Object.fromEntries(device.attributes.list(scope).map(([key, { value }]) => [key, plain(value)]));
  }

  /** All points of a key, oldest first. */
  points(device: Device, key: string): { ts: number; value: unknown }[] {
    const all = {
      startTs: Number.MIN_SAFE_INTEGER,
      endTs: Number.MAX_SAFE_INTEGER,
      limit: 1_000_000,
      ascending: true,
    };
    return device.series.range(key, all).map(({ ts, value }) => ({ ts, value: plain(value) }));
  }

  /** Value of the newest point of a key. */
  latest(device: Device, key: string): unknown {
    return plain(device.series.latest(key)?.value);
  }

  /** Sends a server-side RPC; the returned list gets what its caller learns. */
  rpc(
    device: Device,
    method: string,
    params: unknown,
    { oneWay = false, timeoutMs = 10_000 } = {},
  ): RpcResult[] {
    const results: RpcResult[] = [];
    const now = this.#clock.wall() ?? this.#clock.now();
    const result = (learnt: RpcResult) => results.push(learnt);
    device.rpc.send({ method, params: JSON.stringify(params), oneWay, expiresAt: now + timeoutMs, result });
    return results;
  }

  #serve(api: DeviceApi, request: SeenRequest): void {
    const fault = this.fault?.(request);
    if (fault === "hang") return;
    if (fault === "drop") {
      request.peer.reset();
      return;
    }
    const breakAt = typeof fault === "object" && "breakAt" in fault ? fault.breakAt : undefined;
    if (typeof fault === "object" && "status" in fault) {
      request.reply(fault.status, fault.body);
      return;
    }
    const { peer } = request;
    const message = {
      method: request.method,
      url: request.path,
      headers: request.headers,
      body: Buffer.from(request.body),
    };
    const abandon = api.handle(message, (answered) => {
      this.onAnswer?.(request, answered.status, Buffer.from(answered.body).toString());
      const date = this.dates ? { Date: new Date(this.dates()).toUTCString() } : {};
      const response = { ...answered, headers: { ...answered.headers, ...date } };
      if (fault === "lose-answer") peer.reset();
      else if (typeof fault === "object" && "answer" in fault) fault.answer(bytesOf(response));
      else send(peer, response, breakAt);
    });
    peer.onClose = abandon;
  }
}

function send(peer: Peer, response: DeviceResponse, breakAt: number | undefined): void {
  peer.send(bytesOf(response).subarray(0, breakAt));
  if (breakAt !== undefined) peer.reset();
  else if (answerBytes(response, 0).closes) peer.end();
}

/**
 * As the platform's web server writes it, with a length, and with a date only if a test gave one.
 */
function bytesOf(response: DeviceResponse): Uint8Array {
  const { whole, head } = answerBytes({ ...response, chunked: false }, 0);
  const lines = Buffer.from(whole.subarray(0, head)).toString("latin1").replace(UNASKED_DATE, "");
  return Buffer.concat([Buffer.from(lines, "latin1"), whole.subarray(head)]);
}

function entries(values: Record<string, unknown>): [string, NonNullable<ReturnType<typeof typed>>][] {
  return Object.entries(values).map(([key, value]) => [key, typed(parseJson(JSON.stringify(value))) ?? ""]);
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "object" && value !== null && "text" in value) return JSON.parse(String(value.text));
  return value;
}
