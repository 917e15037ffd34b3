// Builds the application's host: the machine without the parts that belong to the agent.
import { type LoggedStore, storageLogOf } from "../../src/board-module.js";
import type { Host } from "../../src/port.js";
import type { AppHost } from "./application.js";

/** Values of the agent, of commissioning, and of `mote run`. */
const AGENT_KEYS =
  "token proposed refused client shared rpc queue firmware recovery reset " +
  "wifi platform commission new-token new-proposed new-for image-a image-b";
/** Ends the key of a copy: see src/store.ts. */
const COPY = "-old";

/** True if only the agent may read and write the value of `key`. */
export const isAgentKey = (key: string): boolean => {
  const name = key.endsWith(COPY) ? key.slice(0, -COPY.length) : key;
  return AGENT_KEYS.split(" ").includes(name);
};

/** Of everything that `host` has, the application gets the members that `AppHost` names. */
export const appHostOf = (host: Host, settings: AppHost["settings"], health: AppHost["health"]): AppHost => {
  const { clock, digest, encode, decode, random, hardwareId, log, conceal, lastRun, restart } = host;
  return {
    clock,
    store: appStore(host),
    digest,
    encode,
    decode,
    random,
    hardwareId,
    log,
    ...(conceal && { conceal }),
    lastRun,
    restart,
    settings,
    health,
  };
};

const appStore = ({ store, log }: Host): LoggedStore => {
  let isLogged = false;
  const isAllowed = (key: string): boolean => {
    const isAgents = isAgentKey(key);
    // Once, because an application may ask in a loop.
    if (isAgents && !isLogged)
      log("warn", `store: "${key}" belongs to the agent; the application must use another key`);
    isLogged ||= isAgents;
    return !isAgents;
  };
  return {
    storageLog: storageLogOf({ store }),
    get: (key) => (isAllowed(key) ? store.get(key) : undefined),
    set: (key, value) => isAllowed(key) && store.set(key, value),
    delete: (key) => isAllowed(key) && store.delete(key),
  };
};
