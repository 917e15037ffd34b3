import type { Clock } from "./common/clock.js";
import type { Device } from "./devices.js";

interface Claim {
  readonly secretKey: string;
  readonly expiresAt: number;
}

/** Default and maximum of `durationMs`. */
const DAY_MS = 86_400_000;

/** Claims that devices opened, at most one per device: the first one stays. */
export class Claiming {
  readonly #claims = new Map<string, Claim & { readonly forgottenAt: number }>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The device learns nothing of what becomes of it. */
  open(device: Device, secretKey: string, durationMs: number): void {
    if (device.customerId !== undefined || this.#find(device)) return;
    const now = this.#clock.now();
    const expiresAt = now + (durationMs > 0 ? durationMs : DAY_MS);
    this.#claims.set(device.id, { secretKey, expiresAt, forgottenAt: now + DAY_MS });
  }

  /** What a customer's attempt leads to; a wrong secret voids the claim. */
  claim(device: Device, customerId: string, secretKey: string): "SUCCESS" | "FAILURE" | "CLAIMED" {
    const claim = this.#find(device);
    if (!claim) return device.customerId === undefined ? "FAILURE" : "CLAIMED";
    this.#claims.delete(device.id);
    if (claim.expiresAt < this.#clock.now() || claim.secretKey !== secretKey) return "FAILURE";
    if (device.customerId !== undefined) return "CLAIMED";
    device.customerId = customerId;
    return "SUCCESS";
  }

  /** Takes the device back from its customer. */
  reclaim(device: Device): void {
    device.customerId = undefined;
    this.#claims.delete(device.id);
  }

  forget(device: Device): void {
    this.#claims.delete(device.id);
  }

  #find(device: Device): Claim | undefined {
    const claim = this.#claims.get(device.id);
    if (claim && claim.forgottenAt <= this.#clock.now()) this.#claims.delete(device.id);
    return this.#claims.get(device.id);
  }
}
