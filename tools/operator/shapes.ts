// The platform's REST shapes, as far as this client reads or writes them. What else an entity holds
// is kept and sent back.

/** `{"entityType":"DEVICE","id":"7c5e…"}` */
export interface EntityId {
  entityType: string;
  id: string;
}

export interface Entity {
  id: EntityId;
  /** Milliseconds since 1970. */
  createdTime?: number;
  name: string;
  [member: string]: unknown;
}

export interface Device extends Entity {
  type?: string;
  deviceProfileId?: EntityId;
  /** The nil id 13814000-1dd2-11b2-8080-808080808080 when no customer owns it. */
  customerId?: EntityId | null;
  firmwareId?: EntityId | null;
}

/** `active`: it sent something in the last ten minutes (the platform's default). */
export interface DeviceInfo extends Device {
  active?: boolean;
  deviceProfileName?: string;
  customerTitle?: string | null;
}

export interface DeviceProfile extends Entity {
  default?: boolean;
  firmwareId?: EntityId | null;
}

/** `credentialsId` is the access token when `credentialsType` is ACCESS_TOKEN. */
export interface Credentials {
  credentialsType: string;
  credentialsId: string;
  [member: string]: unknown;
}

export interface User extends Entity {
  email: string;
  authority: string;
  customerId?: EntityId | null;
}

export type Algorithm = "MD5" | "SHA256" | "SHA384" | "SHA512" | "CRC32" | "MURMUR3_32" | "MURMUR3_128";

export interface OtaPackage {
  id: EntityId;
  title: string;
  version: string;
  type: "FIRMWARE" | "SOFTWARE";
  deviceProfileId?: EntityId | null;
  hasData?: boolean;
  checksumAlgorithm?: Algorithm;
  checksum?: string;
  dataSize?: number;
  [member: string]: unknown;
}

/** One page of a list; pages are counted from 0. */
export interface Page<T> {
  data: T[];
  totalPages: number;
  totalElements: number;
  hasNext: boolean;
}

export interface PageQuery {
  /** Default 100. */
  pageSize?: number;
  page?: number;
  textSearch?: string | undefined;
}

export type Scope = "CLIENT_SCOPE" | "SHARED_SCOPE" | "SERVER_SCOPE";

/** `ts` in milliseconds since 1970. */
export interface Reading {
  ts: number;
  value: unknown;
}

/** A device's request in the local platform's log. Tokens and other secrets are `***`. */
export interface LoggedRequest {
  /** When it came, in milliseconds since 1970. */
  ts: number;
  method: string;
  /** Path and query, with three asterisks for the token. */
  path: string;
  /** Name of the device; null if the token is not known. */
  device: string | null;
  /** 0 if there was no answer: the device hung up before, or a fault took it. */
  status: number;
  durationMs: number;
  /** What the fault switchboard did to it; absent if nothing. */
  faults?: readonly string[];
  /** At most 200 bytes of it. */
  body: string;
}

export interface PersistentRpc {
  id: EntityId;
  status: "QUEUED" | "SENT" | "DELIVERED" | "SUCCESSFUL" | "TIMEOUT" | "EXPIRED" | "FAILED" | "DELETED";
  response?: unknown;
  [member: string]: unknown;
}

export interface EntityKey {
  type:
    | ("ENTITY_FIELD" | "TIME_SERIES" | "ATTRIBUTE")
    | ("CLIENT_ATTRIBUTE" | "SHARED_ATTRIBUTE" | "SERVER_ATTRIBUTE");
  key: string;
}

export interface EntityData {
  entityId: EntityId;
  /** By type and key; a value is text, and empty at the time 0 if there is none. */
  latest: Partial<Record<EntityKey["type"], Record<string, { ts: number; value: string }>>>;
}
