// The platform in memory on a clock that a test moves by hand: no network, no real time.
import type { ExecutionContext } from "ava";
import type { Clock } from "../../../tools/platform/core/common/clock.js";
import type { Device } from "../../../tools/platform/core/devices.js";
import type { OtaPackage, PackageFields, PackageFile } from "../../../tools/platform/core/ota/packages.js";
import { PlatformCore, type PlatformOptions } from "../../../tools/platform/core/platform.js";
import type { Profile } from "../../../tools/platform/core/profiles.js";
import type { RpcRequest, RpcResult } from "../../../tools/platform/core/rpc/rpc.js";
import { answerBytes } from "../../../tools/platform/device/answer-bytes.js";
import { DeviceApi, type DeviceApiOptions } from "../../../tools/platform/device-api.js";
import type { Platform, PlatformServerOptions } from "../../../tools/platform/server.js";
import { platformFor } from "../platform-for.js";

/** Starts a platform with the device "d", whose access token is TOKEN. */
export async function startWithDevice(
  t: ExecutionContext,
  options: PlatformServerOptions = {},
): Promise<Platform> {
  const platform = await platformFor(t, { log: (line) => t.fail(line), ...options });
  platform.core.createDevice({ name: "d", profileId: platform.core.profiles.default.id }, TOKEN);
  return platform;
}

/**
 * Adds a package; with `bytes`, uploads them as its file. Default: firmware "image" 1 of the
 * default profile.
 */
export function addPackage(
  core: PlatformCore,
  fields: Partial<PackageFields> = {},
  bytes?: Uint8Array,
  algorithm: PackageFile["algorithm"] = "SHA256",
): OtaPackage {
  const made = core.packages.create({
    ...{ title: "image", version: "1", tag: undefined, url: undefined },
    ...{ profileId: core.profiles.default.id, ...fields },
  });
  const file = { fileName: "app.bin", contentType: "application/octet-stream", checksum: undefined };
  if (bytes) core.packages.upload(made, { ...file, bytes, algorithm });
  return made;
}

/** Logs in; returns the JWT, or undefined if the login is refused. */
export async function jwtOf(
  { url }: { readonly url: string },
  name = "tenant",
  password = name,
): Promise<string | undefined> {
  const body = JSON.stringify({ username: `${name}@thingsboard.org`, password });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${url}/api/auth/login`, { method: "POST", headers, body });
  return ((await answer.json()) as { token?: string }).token;
}

export const START = 1_760_000_000_000;
export const TOKEN = "the-device-token";

interface Timer {
  at: number;
  run: () => void;
}

export class VirtualClock implements Clock {
  #now = START;
  readonly #timers = new Set<Timer>();

  now(): number {
    return this.#now;
  }

  timer(ms: number, run: () => void): () => void {
    const timer = { at: this.#now + Math.max(0, ms), run };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get waiting(): number {
    return this.#timers.size;
  }

  advance(ms: number): void {
    const end = this.#now + ms;
    for (;;) {
      const [next] = [...this.#timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
      if (!next) break;
      this.#timers.delete(next);
      this.#now = next.at;
      next.run();
    }
    this.#now = end;
  }
}

/** A request of the device, and what it was answered with. */
export interface Call {
  status: number | undefined;
  text: string;
  headers: Record<string, string>;
  hangUp(): void;
}

const ASKED = { keepAlive: true, asksToKeep: false } as const;

/** Of a head as it goes out; repeated ones joined. */
function headersOf(head: string): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of head.trimEnd().split("\r\n").slice(1)) {
    const [name = "", value = ""] = line.split(/: ?(.*)/s);
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

export interface Rig {
  clock: VirtualClock;
  core: PlatformCore;
  api: DeviceApi;
  device: Device;
  /** With provisioning, key `key` and secret `secret`. */
  profile: Profile;
  /** Faults of the local platform's own. */
  faults: unknown[];
  /** `path` is what follows the token, or a whole one from `/api`. */
  call(method: string, path: string, body?: string, headers?: Record<string, string>): Call;
  /** As the operator. */
  send(method: string, options?: Partial<RpcRequest>): { id: number | undefined; results: RpcResult[] };
}

export function createRig(options: Partial<DeviceApiOptions & PlatformOptions> = {}): Rig {
  const clock = new VirtualClock();
  const core = new PlatformCore({ clock, ...options });
  const faults: unknown[] = [];
  const api = new DeviceApi({ core, onError: (error) => faults.push(error), ...options });
  const profile = core.profiles.create({
    name: "greenhouse",
    strategy: "ALLOW_CREATE_NEW_DEVICES",
    provisionKey: "key",
    provisionSecret: "secret",
  });
  const device = core.createDevice({ name: "greenhouse-7", profileId: profile.id }, TOKEN);
  const call: Rig["call"] = (method, path, body = "", headers = {}) => {
    const url = path.startsWith("/") ? path : `/api/v1/${TOKEN}/${path}`;
    const bytes = Buffer.from(body);
    const all = { ...(body !== "" && { "content-length": String(bytes.length) }), ...headers };
    const made: Call = { status: undefined, text: "", headers: {}, hangUp: () => {} };
    made.hangUp = api.handle({ method, url, headers: all, body: bytes }, (answer) => {
      if (made.status !== undefined) throw new Error("answered twice");
      made.status = answer.status;
      made.text = Buffer.from(answer.body).toString();
      const { whole, head } = answerBytes(answer, clock.now(), { ...ASKED, method });
      made.headers = headersOf(Buffer.from(whole.subarray(0, head)).toString("latin1"));
    });
    return made;
  };
  const send: Rig["send"] = (method, request = {}) => {
    const results: RpcResult[] = [];
    const rpc = { method, params: "{}", oneWay: false, expiresAt: clock.now() + 10_000, ...request };
    const id = device.rpc.send({ ...rpc, result: (result) => results.push(result) });
    return { id, results };
  };
  return { clock, core, api, device, profile, faults, call, send };
}
