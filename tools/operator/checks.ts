// What this client needs of the platform's answers. Whatever else they hold is kept.
import type {
  Credentials,
  Entity,
  EntityData,
  EntityId,
  LoggedRequest,
  OtaPackage,
  Page,
  PersistentRpc,
  Reading,
  User,
} from "./shapes.js";

export type Check<T> = (answer: unknown) => answer is T;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string";

/** An object whose members fit. */
const object =
  <T>(members: { readonly [name: string]: (value: unknown) => boolean }): Check<T> =>
  (value): value is T =>
    isObject(value) && Object.entries(members).every(([name, fits]) => fits(value[name]));

export const listOf =
  <T>(fits: Check<T>): Check<T[]> =>
  (value): value is T[] =>
    Array.isArray(value) && value.every(fits);

export const recordOf =
  <T>(fits: Check<T>): Check<Record<string, T>> =>
  (value): value is Record<string, T> =>
    isObject(value) && Object.values(value).every(fits);

/** A page that says that another follows has entries: a list without end is none. */
export const pageOf = <T>(fits: Check<T>): Check<Page<T>> => {
  const isPage = object<Page<T>>({
    data: listOf(fits),
    hasNext: (value) => typeof value === "boolean",
    totalElements: Number.isSafeInteger,
    totalPages: Number.isSafeInteger,
  });
  return (value): value is Page<T> => isPage(value) && (value.data.length > 0 || !value.hasNext);
};

export const isAnything: Check<unknown> = (_): _ is unknown => true;
export const isName: Check<string> = isText;
const isId = object<EntityId>({ id: isText });
/** Of any kind. */
export const isEntity = object<Entity>({ id: isId, name: isText });
export const isUser = object<User>({ id: isId, email: isText, authority: isText });
export const isCredentials = object<Credentials>({ credentialsType: isText, credentialsId: isText });
export const isPackage = object<OtaPackage>({ id: isId, title: isText, version: isText });
/** A number that would be rounded comes as text. */
const isTime = (value: unknown): boolean => Number.isFinite(value) || isText(value);
export const isReading = object<Reading>({ ts: isTime });
export const isAttribute = object<{ key: string; value: unknown; lastUpdateTs: number | string }>({
  key: isText,
  lastUpdateTs: isTime,
});
export const isRpc = object<PersistentRpc>({ id: isId, status: isText });
export const isRpcId = object<{ rpcId: string }>({ rpcId: isText });
export const isRequest = object<LoggedRequest>({
  ...{ ts: Number.isFinite, method: isText, path: isText, status: Number.isFinite, body: isText },
  faults: (value) => value === undefined || listOf(isName)(value),
});
const isLatest = recordOf(recordOf(object<{ ts: number; value: string }>({ ts: isTime, value: isText })));
export const isRow = object<EntityData>({ entityId: isId, latest: isLatest });
