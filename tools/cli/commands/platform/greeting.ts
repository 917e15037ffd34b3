// What `mote platform` says when it is there.
import { calledAs } from "../../invocation.js";
import { isLoopback, type Password, WARNING } from "./network.js";

interface Running {
  url: string;
  profile: { key: string; secret: string };
}

interface Network {
  /** Under which a board reaches it. */
  urls: readonly string[];
  /** In place of the well-known ones. */
  password: Password | undefined;
}

/** The start message as JSON. Without secrets, because programs log it. */
export function listening(
  { url, profile }: Running,
  tell: boolean,
  { urls, state }: { urls: readonly string[]; state: string | undefined },
): string {
  const keys = { ...(tell && { provisionKey: profile.key }), provisionSecret: null };
  const event = { ts: Date.now(), event: "listening", url, state: state ?? "memory" };
  return JSON.stringify({ ...event, ...(urls.length > 0 && { urls }), ...keys });
}

/** The greeting for people. Shows generated secrets, but not given ones. */
export function greeting(
  { url, profile }: Running,
  { host, state }: { host: string; state: string | undefined },
  tell: boolean,
  { urls, password }: Network,
): string[] {
  const shown = password && (password.isMadeUp ? password.text : "as given");
  return [
    `Local platform at ${url}`,
    ...urls.map((one) => `  for boards           ${one}`),
    `  console              ${url}/ in a browser`,
    `  tenant               tenant@thingsboard.org / ${shown ?? "tenant"}`,
    `  customer             customer@thingsboard.org / ${shown ?? "customer"}`,
    `  provisioning key     ${tell ? profile.key : "as given"}`,
    `  provisioning secret  ${tell ? profile.secret : "as given"}`,
    `  state                ${state ?? "in memory only (--no-state)"}`,
    ...(password && !isLoopback(host) ? [WARNING] : []),
  ];
}

/** Next steps to copy. */
export function nextSteps({ url, profile }: Running, ca: string | undefined, tell: boolean): string[] {
  const trust = ca === undefined ? "" : ` --ca ${ca}`;
  const mote = calledAs();
  return [
    "",
    "Run a device, in another terminal:",
    // Other users can see arguments.
    ...(tell ? [`  export MOTE_PROVISION_KEY=${profile.key} MOTE_PROVISION_SECRET=${profile.secret}`] : []),
    `  ${mote} run --url ${url}${trust} --device-name greenhouse-7 --state ./greenhouse-7`,
    "Log in as an operator:",
    `  ${mote} login --url ${url} --username tenant@thingsboard.org`,
    "",
  ];
}
