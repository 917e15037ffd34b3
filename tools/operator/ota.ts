import { isAnything, isEntity, isPackage, pageOf } from "./checks.js";
import { allPages } from "./pages.js";
import { Calls } from "./rest.js";
import type { Algorithm, EntityId, OtaPackage, Page, PageQuery } from "./shapes.js";

const part = encodeURIComponent;

export interface NewPackage {
  title: string;
  version: string;
  /** Of the device profile whose devices may get it. */
  deviceProfileId: string;
  tag?: string;
  /** Where the file is, if not on the platform: there is no upload then. */
  externalFile?: ExternalFile;
}

/** A file that devices fetch from its own address; what isn't said here they don't learn. */
export interface ExternalFile {
  url: string;
  /** In bytes. */
  dataSize?: number;
  checksumAlgorithm?: Algorithm;
  checksum?: string;
}

export interface Upload {
  /** Default `firmware.bin`. */
  fileName?: string;
  /** Default SHA256. */
  algorithm?: Algorithm;
  /** Lower-case hex; the platform computes it if there is none, and refuses one that differs. */
  checksum?: string;
  /** Default 10 minutes, in milliseconds. */
  timeoutMs?: number;
}

/** OTA packages and their assignment. */
export class Ota extends Calls {
  /** The entry alone; `upload` adds the file. */
  async create(wanted: NewPackage): Promise<OtaPackage> {
    const { title, version, deviceProfileId, tag, externalFile } = wanted;
    const profile: EntityId = { entityType: "DEVICE_PROFILE", id: deviceProfileId };
    const usesUrl = externalFile !== undefined;
    const body = {
      title,
      version,
      type: "FIRMWARE",
      tag,
      deviceProfileId: profile,
      usesUrl,
      ...externalFile,
    };
    return this.rest.call("POST", "/api/otaPackage", isPackage, { body });
  }

  async upload(id: string, bytes: Uint8Array, options: Upload = {}): Promise<OtaPackage> {
    const { fileName = "firmware.bin", algorithm = "SHA256", checksum } = options;
    const query = { checksumAlgorithm: algorithm, checksum };
    const form = new FormData();
    form.append("file", new Blob([bytes as Uint8Array<ArrayBuffer>]), fileName);
    const call = { query, form, timeoutMs: options.timeoutMs ?? 600_000 };
    return this.rest.call("POST", `/api/otaPackage/${part(id)}`, isPackage, call);
  }

  /** The entry without its file, which `GET /api/otaPackage/{id}` would include. */
  async get(id: string): Promise<OtaPackage> {
    return this.rest.call("GET", `/api/otaPackage/info/${part(id)}`, isPackage);
  }

  async list({ pageSize = 100, page = 0, textSearch }: PageQuery = {}): Promise<Page<OtaPackage>> {
    const query = { pageSize, page, textSearch };
    return this.rest.call("GET", "/api/otaPackages", pageOf(isPackage), { query });
  }

  /** The firmware of that title and version, in whatever profile. */
  async find(title: string, version: string): Promise<OtaPackage | undefined> {
    const all = await allPages((page) => this.list({ page, textSearch: title }));
    return all.find((one) => one.title === title && one.version === version && one.type === "FIRMWARE");
  }

  /** Those with a file that devices of the profile may get. */
  async fitting(
    profileId: string,
    { pageSize = 100, page = 0, textSearch }: PageQuery = {},
  ): Promise<Page<OtaPackage>> {
    const query = { pageSize, page, textSearch };
    const path = `/api/otaPackages/${part(profileId)}/FIRMWARE`;
    return this.rest.call("GET", path, pageOf(isPackage), { query });
  }

  async delete(id: string): Promise<void> {
    await this.rest.call("DELETE", `/api/otaPackage/${part(id)}`, isAnything);
  }

  /** Assigns firmware to a device; undefined: that of its profile. */
  async assign(deviceId: string, packageId: string | undefined): Promise<void> {
    const path = `/api/device/${part(deviceId)}`;
    const device = await this.rest.call("GET", path, isEntity);
    const body = { ...device, firmwareId: ota(packageId) };
    await this.rest.call("POST", "/api/device", isEntity, { body });
  }

  /** Firmware for all devices of a profile that have none of their own. */
  async assignToProfile(profileId: string, packageId: string | undefined): Promise<void> {
    const path = `/api/deviceProfile/${part(profileId)}`;
    const profile = await this.rest.call("GET", path, isEntity);
    const body = { ...profile, firmwareId: ota(packageId) };
    await this.rest.call("POST", "/api/deviceProfile", isEntity, { body });
  }
}

function ota(id: string | undefined): EntityId | null {
  return id === undefined ? null : { entityType: "OTA_PACKAGE", id };
}
