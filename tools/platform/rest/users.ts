import type { Ids } from "../core/common/ids.js";
import { NIL_ID } from "../core/common/ids.js";

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

/** The logins of a fresh server with the demo data. They are public, which is why nothing listens beyond loopback unasked. */
export class Users {
  readonly tenantId: string;
  readonly customerId: string;
  readonly createdTime: number;
  readonly #users: User[];

  constructor(ids: Ids, createdTime: number) {
    this.createdTime = createdTime;
    this.tenantId = ids.uuid();
    this.customerId = ids.uuid();
    const user = (name: string, authority: Authority, tenantId: string, customerId: string): User => {
      const email = `${name}@thingsboard.org`;
      return { id: ids.uuid(), createdTime, email, password: name, authority, tenantId, customerId };
    };
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
