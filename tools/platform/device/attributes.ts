import type { Attribute } from "../core/attributes.js";
import { quoted } from "../core/json/json.js";
import { valueJson } from "../core/values.js";
import { type Exchange, ShapeError } from "./exchange.js";
import { pollTimeout } from "./numbers.js";
import { cantParse, valuesOf } from "./telemetry.js";

/** `{"k":1}` -> client attributes. */
export function publishAttributes(exchange: Exchange): void {
  const json = exchange.json();
  if (!(json instanceof Map)) throw new ShapeError(cantParse(json));
  const values = valuesOf(json);
  exchange.store(() => exchange.core.receiveAttributes(exchange.device, values));
  exchange.answer(200);
}

/** `{"client":{…},"shared":{…}}`: a group without entries is left out. */
export function readAttributes(exchange: Exchange): void {
  const client = keyList(exchange, "clientKeys");
  const shared = keyList(exchange, "sharedKeys");
  if (client.includes("") || shared.includes("")) {
    // The real server fails inside and never answers.
    exchange.wait();
    return;
  }
  const { attributes } = exchange.device;
  const all = client.length === 0 && shared.length === 0;
  const groups: string[] = [];
  const add = (name: string, scope: "CLIENT_SCOPE" | "SHARED_SCOPE", keys: string[]): void => {
    if (!all && keys.length === 0) return;
    const found = attributes.list(scope, all ? undefined : keys);
    if (found.length > 0) groups.push(`"${name}":${members(found)}`);
  };
  add("client", "CLIENT_SCOPE", client);
  add("shared", "SHARED_SCOPE", shared);
  exchange.answerJson(200, `{${groups.join(",")}}`);
}

/** Ends with the next notification: `{"k":1}` or `{"deleted":["k"]}`. */
export function attributeUpdates(exchange: Exchange): void {
  const { notifications } = exchange.device;
  exchange.wait(pollTimeout(exchange));
  notifications.subscribe({
    notify: (json) => {
      if (exchange.isOpen) exchange.answerJson(200, json);
    },
  });
}

/**
 * A repeated parameter counts as one list. Split at commas; empty places at the end don't count,
 * and elsewhere they stay where the server stumbles over them.
 */
function keyList(exchange: Exchange, name: string): string[] {
  const keys = exchange.parameters(name).join(",").split(",");
  while (keys.at(-1) === "") keys.pop();
  return keys;
}

function members(entries: readonly [string, Attribute][]): string {
  return `{${entries.map(([key, { value }]) => `${quoted(key)}:${valueJson(value)}`).join(",")}}`;
}
