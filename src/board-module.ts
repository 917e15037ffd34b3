// The module `mote` of a board: the public API, and what hosts and extras use beside it. The types
// that an application's TypeScript gets are those of index.ts.
export { updateWord } from "./agent/firmware/state-words.js";
export { Recovery } from "./agent/lifecycle/recovery.js";
export { pinAll, pinStored } from "./agent/provisioning/token-store.js";
export * from "./index.js";
export { ROOM_BYTES } from "./platform/session.js";
export { type LoggedStore, readStored, storageLogOf, writeStored } from "./store.js";
export { hash32 } from "./wire/crypto/hash32.js";
export { isObject, parseJson } from "./wire/text/json.js";
export { SecretRedactor } from "./wire/text/redactor.js";
export { quoteShortened } from "./wire/text/text.js";
export { encodeValues } from "./wire/values.js";
