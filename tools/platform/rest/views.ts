// Entities as the platform's REST shows them.

import { NIL_ID } from "../core/common/ids.js";
import type { Credentials, Device } from "../core/devices.js";
import { hasData, type OtaPackage } from "../core/ota/packages.js";
import type { Profile } from "../core/profiles.js";
import type { RestContext } from "./context.js";
import { isActive } from "./resources/activity.js";
import { CUSTOMER_TITLE } from "./users.js";

export interface EntityIdView {
  entityType: string;
  id: string;
}

export function entityId(entityType: string, id: string): EntityIdView {
  return { entityType, id };
}

function packageId(id: string | undefined): EntityIdView | null {
  return id === undefined ? null : entityId("OTA_PACKAGE", id);
}

export function deviceView({ core, users }: RestContext, device: Device): object {
  return {
    id: entityId("DEVICE", device.id),
    createdTime: device.createdTime,
    tenantId: entityId("TENANT", users.tenantId),
    customerId: entityId("CUSTOMER", device.customerId ?? NIL_ID),
    name: device.name,
    type: core.profiles.get(device.profileId)?.name ?? "default",
    label: device.label ?? null,
    deviceProfileId: entityId("DEVICE_PROFILE", device.profileId),
    firmwareId: packageId(device.firmwareId),
    softwareId: null,
    externalId: null,
    version: device.version,
    additionalInfo: device.additionalInfo ?? null,
    deviceData: { configuration: { type: "DEFAULT" }, transportConfiguration: { type: "DEFAULT" } },
  };
}

/** The device with what a list of devices shows besides. */
export function deviceInfoView(context: RestContext, device: Device): object {
  const { core } = context;
  return {
    ...deviceView(context, device),
    customerTitle: device.customerId === undefined ? null : CUSTOMER_TITLE,
    customerIsPublic: false,
    deviceProfileName: core.profiles.get(device.profileId)?.name ?? "default",
    active: isActive(device, core.clock.now()),
  };
}

export function credentialsView(device: Device): object {
  const { id, credentialsId, version }: Credentials = device.credentials;
  return {
    id: { id },
    createdTime: device.createdTime,
    deviceId: entityId("DEVICE", device.id),
    credentialsType: "ACCESS_TOKEN",
    credentialsId,
    credentialsValue: null,
    version,
  };
}

export function profileView({ users }: RestContext, profile: Profile): object {
  const { strategy, provisionSecret } = profile;
  return {
    id: entityId("DEVICE_PROFILE", profile.id),
    createdTime: profile.createdTime,
    tenantId: entityId("TENANT", users.tenantId),
    name: profile.name,
    description: profile.description ?? null,
    image: null,
    type: "DEFAULT",
    transportType: "DEFAULT",
    provisionType: strategy,
    provisionDeviceKey: profile.provisionKey ?? null,
    defaultRuleChainId: null,
    defaultDashboardId: null,
    defaultQueueName: null,
    firmwareId: packageId(profile.firmwareId),
    softwareId: null,
    externalId: null,
    default: profile.isDefault,
    version: profile.version,
    profileData: {
      configuration: { type: "DEFAULT" },
      transportConfiguration: { type: "DEFAULT" },
      provisionConfiguration: { type: strategy, provisionDeviceSecret: provisionSecret ?? null },
      alarms: null,
    },
  };
}

export function packageView({ users }: RestContext, target: OtaPackage): object {
  return {
    id: entityId("OTA_PACKAGE", target.id),
    createdTime: target.createdTime,
    tenantId: entityId("TENANT", users.tenantId),
    deviceProfileId: target.profileId === undefined ? null : entityId("DEVICE_PROFILE", target.profileId),
    type: "FIRMWARE",
    title: target.title,
    version: target.version,
    tag: target.tag ?? null,
    url: target.url ?? null,
    hasData: hasData(target),
    fileName: target.fileName ?? null,
    contentType: target.contentType ?? null,
    checksumAlgorithm: target.algorithm ?? null,
    checksum: target.checksum ?? null,
    dataSize: target.size ?? null,
    externalId: null,
    name: target.title,
    additionalInfo: null,
  };
}
