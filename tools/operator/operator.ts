import { isRequest, isUser, listOf } from "./checks.js";
import { Attributes, TimeSeries } from "./data.js";
import { DeviceProfiles, Devices } from "./devices.js";
import { Entities } from "./entities.js";
import { Ota } from "./ota.js";
import { Rest, type RestOptions } from "./rest.js";
import { Rpc } from "./rpc.js";
import type { LoggedRequest, User } from "./shapes.js";

/**
 * What an operator does, over the platform's REST. Every call returns what the platform answered
 * and throws OperatorError otherwise. A token that has expired is refreshed once per call;
 * redirects are not followed.
 */
export class Operator {
  readonly devices: Devices;
  readonly profiles: DeviceProfiles;
  readonly entities: Entities;
  readonly attributes: Attributes;
  readonly timeSeries: TimeSeries;
  readonly rpc: Rpc;
  readonly ota: Ota;
  readonly #rest: Rest;

  constructor(options: RestOptions) {
    const rest = new Rest(options);
    this.#rest = rest;
    this.devices = new Devices(rest);
    this.profiles = new DeviceProfiles(rest);
    this.entities = new Entities(rest);
    this.attributes = new Attributes(rest);
    this.timeSeries = new TimeSeries(rest);
    this.rpc = new Rpc(rest);
    this.ota = new Ota(rest);
  }

  /** Where the platform is. */
  get url(): string {
    return this.#rest.base;
  }

  /** `TENANT_ADMIN`, `CUSTOMER_USER` or `SYS_ADMIN`, as the session's token says. */
  get authority(): string | undefined {
    return this.#rest.claims.authority;
  }

  login(username: string, password: string): Promise<void> {
    return this.#rest.login(username, password);
  }

  /** A new token for the session at once. */
  refresh(): Promise<void> {
    return this.#rest.refresh();
  }

  /** Forgets the session. */
  logout(): void {
    this.#rest.logout();
  }

  /** The last 1,000 requests of devices. Throws OperatorError 404 on a real server. */
  async requests(): Promise<LoggedRequest[]> {
    return this.#rest.call("GET", "/api/requests", listOf(isRequest));
  }

  /** Who is logged in. */
  async user(): Promise<User> {
    return this.#rest.call("GET", "/api/auth/user", isUser);
  }
}
