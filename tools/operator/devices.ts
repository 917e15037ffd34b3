import { isAnything, isCredentials, isEntity, pageOf } from "./checks.js";
import { OperatorError, unlessMissing } from "./error.js";
import { allPages, eachPage } from "./pages.js";
import { Calls } from "./rest.js";
import type { Credentials, Device, DeviceInfo, DeviceProfile, Page, PageQuery } from "./shapes.js";

const part = encodeURIComponent;
const TENANT = "/api/tenant";

interface InfoQuery extends PageQuery {
  deviceProfileId?: string;
}

/** Devices of the tenant, or, for a customer's user, of that customer. */
export class Devices extends Calls {
  /** Undefined if there is none of that name. */
  async byName(deviceName: string): Promise<Device | undefined> {
    if (this.#owner !== TENANT) return this.#ofCustomerByName(deviceName);
    const query = { deviceName };
    return unlessMissing(this.rest.call("GET", "/api/tenant/devices", isEntity, { query }));
  }

  async get(id: string): Promise<Device> {
    return this.rest.call("GET", `/api/device/${part(id)}`, isEntity);
  }

  /** Undefined only if the platform itself answers that there is no such device. */
  async find(id: string): Promise<Device | undefined> {
    return unlessMissing(this.get(id), ({ isNotFound }) => isNotFound);
  }

  async list({ pageSize = 100, page = 0, textSearch }: PageQuery = {}): Promise<Page<Device>> {
    const query = { pageSize, page, textSearch };
    return this.rest.call("GET", `${this.#owner}/devices`, pageOf(isEntity), { query });
  }

  /** The device with its activity and the name of its profile. */
  async info(id: string): Promise<DeviceInfo> {
    return this.rest.call("GET", `/api/device/info/${part(id)}`, isEntity);
  }

  /** Devices with their activity and the name of their profile. */
  async infos({ pageSize = 100, page = 0, ...filter }: InfoQuery = {}): Promise<Page<DeviceInfo>> {
    const query = { pageSize, page, ...filter };
    return this.rest.call("GET", `${this.#owner}/deviceInfos`, pageOf(isEntity), { query });
  }

  /**
   * All devices of a profile, also while it is being renamed. Throws OperatorError if the platform
   * lists fewer
   * devices than it counts: a short list must not pass for the whole.
   */
  async ofProfile({ id, name }: DeviceProfile): Promise<DeviceInfo[]> {
    const found = new Map<string, DeviceInfo>();
    let total = 0;
    for await (const page of eachPage((number) => this.infos({ page: number, deviceProfileId: id.id }))) {
      for (const one of page.data) found.set(one.id.id, one);
      total = page.totalElements;
    }
    if (found.size >= total)
      return [...found.values()].filter(({ deviceProfileId }) => deviceProfileId?.id === id.id);
    const message = `the platform listed ${found.size} of ${total} devices of the profile ${name}`;
    throw new OperatorError(0, `${message}: try again`);
  }

  /** With an access token of one's own, or one the platform makes up. */
  async create(device: Partial<Device> & { name: string }, accessToken?: string): Promise<Device> {
    const secrets = accessToken === undefined ? [] : [accessToken];
    const call = { query: { accessToken }, body: device, secrets };
    return this.rest.call("POST", "/api/device", isEntity, call);
  }

  /** Saves the whole entity: what was read, with the changes. */
  async save(device: Device): Promise<Device> {
    return this.rest.call("POST", "/api/device", isEntity, { body: device });
  }

  async delete(id: string): Promise<void> {
    await this.rest.call("DELETE", `/api/device/${part(id)}`, isAnything);
  }

  /** Holds the access token: not for a log. */
  async credentials(id: string): Promise<Credentials> {
    return this.rest.call("GET", `/api/device/${part(id)}/credentials`, isCredentials);
  }

  /** Claims the device as a customer. Throws OperatorError 400 for a refusal. */
  async claim(deviceName: string, secretKey: string): Promise<void> {
    const call = { body: { secretKey }, secrets: [secretKey] };
    await this.rest.call("POST", `/api/customer/device/${part(deviceName)}/claim`, isAnything, call);
  }

  get #owner(): string {
    const { authority, customerId } = this.rest.claims;
    return authority === "CUSTOMER_USER" && customerId ? `/api/customer/${part(customerId)}` : TENANT;
  }

  /** Customers have no endpoint for a name. */
  async #ofCustomerByName(name: string): Promise<Device | undefined> {
    const all = await allPages((page) => this.list({ textSearch: name, page }));
    return all.find((one) => one.name === name);
  }
}

/** Device profiles of the tenant. */
export class DeviceProfiles extends Calls {
  async list({ pageSize = 100, page = 0, textSearch }: PageQuery = {}): Promise<Page<DeviceProfile>> {
    const query = { pageSize, page, textSearch };
    return this.rest.call("GET", "/api/deviceProfiles", pageOf(isEntity), { query });
  }

  async get(id: string): Promise<DeviceProfile> {
    return this.rest.call("GET", `/api/deviceProfile/${part(id)}`, isEntity);
  }

  /** Creates it if it has no `id`. */
  async save(profile: Partial<DeviceProfile> & { name: string }): Promise<DeviceProfile> {
    return this.rest.call("POST", "/api/deviceProfile", isEntity, { body: profile });
  }

  /** Throws OperatorError 400 while it has devices. */
  async delete(id: string): Promise<void> {
    await this.rest.call("DELETE", `/api/deviceProfile/${part(id)}`, isAnything);
  }
}
