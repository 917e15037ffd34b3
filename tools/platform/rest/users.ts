import { NIL_ID } from "../core/common/ids.js";
import { Refused } from "../core/common/refused.js";
import type { Identity } from "./identity.js";

/** Of the one customer there is. */
export const CUSTOMER_TITLE = "Customer A";

export type Authority = "SYS_ADMIN" | "TENANT_ADMIN" | "CUSTOMER_USER";

export interface User {
  readonly id: string;
  readonly createdTime: number;
  readonly email: string;
  readonly password: string;
  readonly authority: Authority;
  readonly tenantId: string;
  /** The nil id for who is no customer. */
  readonly customerId: string;
}

/** Wrong logins in a row, and how long the next one waits. */
const [TRIES, LOCKED_MS] = [10, 60_000];

/** The passwords of a fresh server with the demo data. */
export const WELL_KNOWN = ["sysadmin", "tenant", "customer"] as const;

/**
 * The logins of a fresh server with the demo data. Their passwords are public, which is why nothing
 * listens beyond loopback unasked, and why one password takes the place of all three where
 * something does.
 */
export class Users {
  readonly tenantId: string;
  readonly customerId: string;
  readonly createdTime: number;
  readonly #users: User[];
  readonly #wrong = new Map<string, { count: number; at: number }>();

  constructor({ createdTime, tenantId, customerId, userIds }: Identity, password?: string) {
    this.createdTime = createdTime;
    this.tenantId = tenantId;
    this.customerId = customerId;
    const user = (
      name: (typeof WELL_KNOWN)[number],
      authority: Authority,
      tenantId: string,
      customerId: string,
    ): User => ({
      id: userIds[name],
      createdTime,
      email: `${name}@thingsboard.org`,
      password: password ?? name,
      authority,
      tenantId,
      customerId,
    });
    this.#users = [
      user("sysadmin", "SYS_ADMIN", NIL_ID, NIL_ID),
      user("tenant", "TENANT_ADMIN", this.tenantId, NIL_ID),
      user("customer", "CUSTOMER_USER", this.tenantId, this.customerId),
    ];
  }

  byId(id: string): User | undefined {
    return this.#users.find((user) => user.id === id);
  }

  /**
   * Undefined for a wrong name or password. After ten of them in a row, a user, or all unknown
   * names together, cannot log in for a minute: throws Refused. `now` in milliseconds.
   */
  byLogin(email: string, password: string, now: number): User | undefined {
    const user = this.#users.find((one) => one.email === email);
    const key = user?.id ?? "";
    const { count, at } = this.#wrong.get(key) ?? { count: 0, at: 0 };
    const isRecent = now - at < LOCKED_MS;
    if (count >= TRIES && isRecent) throw new Refused("Too many wrong logins: wait a minute");
    if (user?.password === password) {
      this.#wrong.delete(key);
      return user;
    }
    this.#wrong.set(key, { count: count < TRIES || isRecent ? count + 1 : 1, at: now });
    return undefined;
  }
}
