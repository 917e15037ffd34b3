import { randomBytes } from "node:crypto";
import type { Ids } from "../core/common/ids.js";

/** Who the platform is to its operators: with another one their sessions and ids mean nothing. */
export interface Identity {
  /** Milliseconds since 1970. */
  readonly createdTime: number;
  readonly tenantId: string;
  /** Of the one customer there is. */
  readonly customerId: string;
  readonly userIds: Readonly<Record<"sysadmin" | "tenant" | "customer", string>>;
  /** What signs the tokens of operators; base64. */
  readonly tokenKey: string;
}

export function newIdentity(ids: Ids, now: number): Identity {
  return {
    createdTime: now,
    tenantId: ids.uuid(),
    customerId: ids.uuid(),
    userIds: { sysadmin: ids.uuid(), tenant: ids.uuid(), customer: ids.uuid() },
    tokenKey: randomBytes(64).toString("base64"),
  };
}
