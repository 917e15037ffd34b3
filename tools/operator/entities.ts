import { isRow, pageOf } from "./checks.js";
import { Calls } from "./rest.js";
import type { EntityData, EntityKey, Page } from "./shapes.js";

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
