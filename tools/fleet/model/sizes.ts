// Bytes of what a device and its platform say to each other: requests as the agent writes them, answers as the local platform gives them.
import { encode } from "../../../hosts/node/text.js";
import { MARKER_KEY, MARKER_VALUE } from "../../../src/agent/attributes/freshness-marker.js";
import type { Request } from "../../../src/http/request.js";
import { writeRequest } from "../../../src/http/request.js";
import type { Target } from "../../../src/http/target.js";
import { post } from "../../../src/platform/requests.js";
import { EXCHANGE_MS } from "../../../src/platform/wait.js";
import { attributesQuery } from "../../../src/wire/attributes.js";
import { FIRMWARE_KEYS } from "../../../src/wire/firmware.js";
import {
  attributesPath,
  devicePrefix,
  rpcPollPath,
  TELEMETRY_PATH,
  updatesPath,
} from "../../../src/wire/paths.js";
import { BEFORE_BYTES, TIMED_BYTES } from "../../../src/wire/telemetry.js";
import { PlatformCore } from "../../platform/core/platform.js";
import { answerBytes } from "../../platform/device/answer-bytes.js";
import type { DeviceResponse } from "../../platform/device/messages.js";
import { DeviceApi } from "../../platform/device-api.js";

/** A handshake and what a record takes more, an estimate: TLS 1.2, ECDHE, a chain of two certificates; full, and with a session that is resumed. */
export const TLS = { fullBytes: 4_500, resumedBytes: 700, recordBytes: 29 } as const;
/** As long as those that the platform makes. */
const TOKEN = "A1B2C3D4E5F6G7H8I9J0";
const NOW = Date.UTC(2026, 0, 1);

export interface Pair {
  readonly request: number;
  readonly answer: number;
}

export interface Sizes {
  readonly look: Pair;
  readonly firstLook: Pair;
  readonly marker: Pair;
  /** `lasts`: as long as it asked for; else the platform ends it before. */
  readonly rpcPoll: (askedMs: number, lasts: boolean) => Pair;
  readonly updatesPoll: (askedMs: number, lasts: boolean) => Pair;
  readonly telemetry: (points: number) => Pair;
  /** Of the first connection of a device, and of each later one. */
  readonly handshake: readonly [number, number];
}

/** A body that is as good as any. */
const EMPTY = '{"a":1}';

/** Millions ask for the same few. */
function remembered(make: (number: number) => Pair): (number: number) => Pair {
  const made: Pair[] = [];
  return (number) => (made[number] ??= make(number));
}

const get = (path: string): Request => ({
  method: "GET",
  path,
  deadlineMs: EXCHANGE_MS,
  limit: 0,
  repeatable: true,
});

/** `pointBytes`: of a point's values as JSON. */
export function sizesOf(target: Target, pointBytes: number): Sizes {
  const platform = new OnePlatform(target);
  const query = attributesQuery({ clientKeys: [MARKER_KEY], sharedKeys: [...FIRMWARE_KEYS] });
  const look = get(attributesPath(query.ok ? query.query : ""));
  const firstLook = platform.pair(look);
  const marker = platform.pair(
    post(attributesPath(), encode(JSON.stringify({ [MARKER_KEY]: MARKER_VALUE }))),
  );
  const frame = platform.pair(post(TELEMETRY_PATH, encode(EMPTY)));
  // A comma before each point but the first, which has the bracket there; an object alone.
  const body = (points: number): number =>
    points === 1 ? pointBytes + TIMED_BYTES : points * (pointBytes + BEFORE_BYTES + 1) + 1;
  const batch = (points: number): Pair => {
    const length = body(points);
    const request =
      frame.request - EMPTY.length - String(EMPTY.length).length + length + String(length).length;
    return { request, answer: frame.answer };
  };
  const polls = (path: (ms: number) => string): Sizes["rpcPoll"] => {
    // Asked for less than the platform's own limit, and for more.
    const ended = [40_000, 20_000].map((ms) => platform.pair(get(path(ms))).answer);
    const head = platform.pair(get(path(20_000))).request - "20000".length;
    const lasted = remembered((digits) => ({ request: head + digits, answer: ended[1]! }));
    const cut = remembered((digits) => ({ request: head + digits, answer: ended[0]! }));
    return (askedMs, lasts) => (lasts ? lasted : cut)(Math.floor(Math.log10(askedMs)) + 1);
  };
  return {
    look: platform.pair(look),
    firstLook,
    marker,
    rpcPoll: polls(rpcPollPath),
    updatesPoll: polls(updatesPath),
    telemetry: remembered(batch),
    handshake: target.secure ? [TLS.fullBytes, TLS.resumedBytes] : [0, 0],
  };
}

/** The local platform, with one device and a clock whose timers are due at once. */
class OnePlatform {
  readonly #target: Target;
  readonly #due: { at: number; run: () => void }[] = [];
  readonly #api: DeviceApi;
  readonly recordBytes: number;

  constructor(target: Target) {
    this.#target = target;
    this.recordBytes = target.secure ? TLS.recordBytes : 0;
    const timer = (ms: number, run: () => void) => {
      const entry = { at: ms, run };
      this.#due.push(entry);
      return () => void this.#due.splice(this.#due.indexOf(entry), 1);
    };
    const core = new PlatformCore({ clock: { now: () => NOW, timer } });
    core.createDevice({ name: "one", profileId: core.profiles.default.id }, TOKEN);
    this.#api = new DeviceApi({ core });
  }

  bytes(request: Request): Uint8Array {
    const path = devicePrefix(TOKEN) + request.path;
    return writeRequest({ encode }, this.#target, { ...request, path }) ?? new Uint8Array(0);
  }

  pair(request: Request): Pair {
    let answer = 0;
    const done = (response: DeviceResponse): void => {
      answer = answerBytes(response, NOW).whole.length;
    };
    const headers = { host: this.#target.authority, "content-type": "application/json" };
    const url = devicePrefix(TOKEN) + request.path;
    const body = Buffer.from(request.body ?? "");
    this.#api.handle({ method: request.method, url, headers, body }, done);
    while (answer === 0 && this.#due.length > 0) this.#first().run();
    return { request: this.bytes(request).length + this.recordBytes, answer: answer + this.recordBytes };
  }

  /** The timer that is due next. */
  #first(): { run: () => void } {
    this.#due.sort((one, other) => one.at - other.at);
    return this.#due.shift() ?? { run: () => {} };
  }
}
