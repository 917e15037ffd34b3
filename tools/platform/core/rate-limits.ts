import type { Clock } from "./common/clock.js";
import type { Device } from "./devices.js";

export const RATE_LIMITS = [
  ...(["tenant-messages", "tenant-telemetry", "tenant-points"] as const),
  ...(["device-messages", "device-telemetry", "device-points"] as const),
] as const;
export type RateLimit = (typeof RATE_LIMITS)[number];

/**
 * Which limits hold, each as `tokens:seconds` with commas between several that hold together:
 * `20:1,600:60` is 20 in one second and 600 in a minute. Of `device-` limits each device has its
 * own. Absent: unlimited, as on a fresh server.
 */
export type RateLimitSpecs = Readonly<Partial<Record<RateLimit, string>>>;

interface Band {
  readonly tokens: number;
  readonly ms: number;
  /** Tokens left, times `ms`: whole numbers only. */
  left: number;
}

const SPEC = /^[1-9][0-9]{0,6}:[1-9][0-9]{0,4}(?:,[1-9][0-9]{0,6}:[1-9][0-9]{0,4}){0,9}$/;

/** Token buckets. A request larger than a bucket never passes. */
export class TokenBucket {
  readonly #bands: readonly Band[];
  readonly #clock: Clock;
  #at: number;

  /** Throws RangeError for a malformed `spec`. */
  constructor(spec: string, clock: Clock) {
    if (!SPEC.test(spec))
      throw new RangeError(`invalid rate limit "${spec}": expected COUNT:SECONDS, for example 20:1,600:60`);
    this.#clock = clock;
    this.#at = clock.now();
    this.#bands = spec.split(",").map((part) => {
      const [tokens = 0, seconds = 0] = part.split(":").map(Number);
      return { tokens, ms: seconds * 1000, left: tokens * seconds * 1000 };
    });
  }

  /** All of them, or none. */
  take(tokens: number): boolean {
    const now = this.#clock.now();
    const passed = Math.max(0, now - this.#at);
    this.#at = now;
    for (const band of this.#bands)
      band.left = Math.min(band.tokens * band.ms, band.left + passed * band.tokens);
    if (!this.#bands.every(({ left, ms }) => left >= tokens * ms)) return false;
    for (const band of this.#bands) band.left -= tokens * band.ms;
    return true;
  }
}

type Owner = "tenant" | "device";
type Buckets = Partial<Record<"messages" | "telemetry" | "points", TokenBucket>>;

/** What devices may send, the tenant's all together and each by itself. */
export class RateLimits {
  readonly #specs: RateLimitSpecs;
  readonly #clock: Clock;
  readonly #tenant: Buckets;
  readonly #devices = new WeakMap<Device, Buckets>();

  /** Throws RangeError for a malformed limit. */
  constructor(specs: RateLimitSpecs, clock: Clock) {
    this.#specs = specs;
    this.#clock = clock;
    this.#tenant = this.#buckets("tenant");
    this.#buckets("device");
  }

  /**
   * Whether a request passes: with data points it costs one telemetry message and so many points,
   * without any one message. The tenant's limits come first, and what they gave is gone even if the
   * device's refuse.
   */
  accept(device: Device, points: number): boolean {
    let own = this.#devices.get(device);
    if (!own) {
      own = this.#buckets("device");
      this.#devices.set(device, own);
    }
    return take(this.#tenant, points) && take(own, points);
  }

  #buckets(owner: Owner): Buckets {
    const buckets: Buckets = {};
    for (const what of ["messages", "telemetry", "points"] as const) {
      const spec = this.#specs[`${owner}-${what}`];
      if (spec !== undefined) buckets[what] = new TokenBucket(spec, this.#clock);
    }
    return buckets;
  }
}

function take(buckets: Buckets, points: number): boolean {
  if (points === 0) return buckets.messages?.take(1) ?? true;
  return (buckets.telemetry?.take(1) ?? true) && (buckets.points?.take(points) ?? true);
}
