import { isRow, pageOf } from "./checks.js";
import { Calls } from "./rest.js";
import type { EntityId, Page } from "./shapes.js";

export interface EntityKey {
  type:
    | ("ENTITY_FIELD" | "TIME_SERIES" | "ATTRIBUTE")
    | ("CLIENT_ATTRIBUTE" | "SHARED_ATTRIBUTE" | "SERVER_ATTRIBUTE");
  key: string;
}

/**
 * `{"key":{"type":"SERVER_ATTRIBUTE","key":"active"},"valueType":"BOOLEAN",
 * "predicate":{"type":"BOOLEAN","operation":"EQUAL","value":{"defaultValue":true}}}`
 */
export interface KeyFilter {
  key: EntityKey;
  valueType: "STRING" | "BOOLEAN";
  predicate: {
    type: "STRING" | "BOOLEAN";
    operation: "EQUAL" | "CONTAINS";
    value: { defaultValue: string | boolean };
    ignoreCase?: boolean;
  };
}

export interface DeviceQuery {
  pageSize: number;
  /** From 0. */
  page: number;
  /** The ids of the devices. Default: all devices. */
  ids?: readonly string[];
  sort?: { key: EntityKey; direction: "ASC" | "DESC" };
  /** Names, types, labels. */
  entityFields: readonly EntityKey[];
  latestValues?: readonly EntityKey[];
  /** All of them hold. */
  keyFilters?: readonly KeyFilter[];
}

export interface EntityData {
  entityId: EntityId;
  /** By type and key; a value is text, and empty at the time 0 if there is none. */
  latest: Partial<Record<EntityKey["type"], Record<string, { ts: number; value: string }>>>;
}

/** Devices with their latest values, filtered, sorted and by pages on the platform. */
export class Entities extends Calls {
  async devices(query: DeviceQuery): Promise<Page<EntityData>> {
    const { pageSize, page, sort, entityFields, latestValues = [], keyFilters = [], ids } = query;
    const body = {
      entityFilter: ids
        ? { type: "entityList", entityType: "DEVICE", entityList: ids }
        : { type: "entityType", entityType: "DEVICE" },
      pageLink: { pageSize, page, textSearch: null, dynamic: false, sortOrder: sort ?? null },
      ...{ entityFields, latestValues, keyFilters },
    };
    return this.rest.call("POST", "/api/entitiesQuery/find", pageOf(isRow), { body });
  }
}
