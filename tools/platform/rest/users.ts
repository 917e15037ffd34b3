import { NIL_ID } from "../core/common/ids.js";
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

  byLogin(email: string, password: string): User | undefined {
    return this.#users.find((user) => user.email === email && user.password === password);
  }
}
