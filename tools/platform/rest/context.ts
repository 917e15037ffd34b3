import type { FastifyRequest } from "fastify";
import type { Device } from "../core/devices.js";
import type { PlatformCore } from "../core/platform.js";
import type { RequestLog } from "../device/request-log.js";
import type { Switchboard } from "../faults/switchboard.js";
import { found, RestError } from "./error.js";
import { uuid } from "./input.js";
import type { Tokens } from "./tokens.js";
import type { User, Users } from "./users.js";

declare module "fastify" {
  interface FastifyRequest {
    /** Who asks; null where no login is needed. */
    user: User | null;
  }
}

/** What the operator's API is made of. */
export interface RestContext {
  readonly core: PlatformCore;
  readonly users: Users;
  readonly tokens: Tokens;
  readonly log: RequestLog;
  readonly faults: Switchboard;
}

export function forbidden(): RestError {
  return new RestError(403, "You don't have permission to perform this operation!");
}

/** Routes of the tenant administrator only. */
export const TENANT = {
  preHandler: async ({ user }: FastifyRequest): Promise<void> => {
    if (user?.authority !== "TENANT_ADMIN") throw forbidden();
  },
};

export function asCustomer({ user }: FastifyRequest): User {
  if (user?.authority !== "CUSTOMER_USER") throw forbidden();
  return user;
}

/** True for the tenant, and for the customer that owns the device. */
export function isVisible({ user }: Pick<FastifyRequest, "user">, { customerId }: Device): boolean {
  const isOwner = user?.authority === "CUSTOMER_USER" && user.customerId === customerId;
  return user?.authority === "TENANT_ADMIN" || isOwner;
}

/** The device of the path. Throws RestError if there is none, or the user cannot see it. */
export function deviceOf(context: RestContext, request: FastifyRequest, name = "deviceId"): Device {
  const id = uuid((request.params as Record<string, string>)[name] ?? "", name);
  const device = found(context.core.devices.get(id));
  if (!isVisible(request, device)) throw forbidden();
  return device;
}
