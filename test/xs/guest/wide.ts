// Readers of a peer's data, each with more members than a board's stack has slots.
import type { Host } from "../../../src/port.js";
import { parseAttributes, parseNotification, splitKeys } from "../../../src/wire/attributes.js";
import { parseAssignment } from "../../../src/wire/firmware.js";
import { parseProvision } from "../../../src/wire/provision.js";
import { encodeAnswer, parseCallAnswer, parseRpcRequest } from "../../../src/wire/rpc.js";
import { type JsonObject, parseJson } from "../../../src/wire/text/json.js";
import { decodeStart } from "../../../src/wire/text/text.js";
import { encodeValues } from "../../../src/wire/values.js";

declare const host: Host;

export const MEMBERS = 2000;
const numbers = Array.from({ length: MEMBERS }, (_, i) => i);
/** Escaped: a member's name may be hidden so, and is looked for in every object. */
const list = `[${numbers.join(",")},"\\u0041"]`;
const object = `{${numbers.map((i) => `"k\\u0041${i}":${i}`).join(",")}}`;
const pairs: JsonObject = Object.fromEntries(numbers.map((i) => [`k${i}`, i]));
const names = numbers.map((i) => `k${i}`);

export const READERS: Readonly<Record<string, () => unknown>> = {
  "a list": () => parseJson(list),
  "an object": () => parseJson(object),
  "lists in a list": () => parseJson(`[${numbers.map(() => "[1]").join(",")},"\\u0041"]`),
  "an answer with attributes": () => parseAttributes(`{"client":{},"shared":{"a":${list},"b":${object}}}`),
  "a notification": () => parseNotification(object),
  "a notification of deletions": () =>
    parseNotification(`{"deleted":[${names.map((name) => `"${name}\\u0041"`)}]}`),
  "a server-side RPC": () => parseRpcRequest(`{"id":0,"method":"m","params":${list}}`, undefined),
  "the answer to a client-side RPC": () => parseCallAnswer(object),
  "an answer to provisioning": () => parseProvision(`{"status":"SUCCESS","x":${list}}`),
  "an assignment": () => parseAssignment(pairs),
  "keys to ask for": () => splitKeys(names, 1500),
  "values to send": () => encodeValues({ numbers, pairs }, 200_000),
  "an answer to send": () => encodeAnswer({ numbers, pairs }, 200_000),
  "bytes that are cut": () => decodeStart(host.encode(list), 30_000),
};
