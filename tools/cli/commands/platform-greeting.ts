// What `mote platform` says when it is there.
import { plain } from "../output/table.js";
import { type Password, WARNING } from "./platform-network.js";

interface Saved {
  id: string;
  name: string;
}

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

/** Who gave the key, the secret or the password knows them: they are not repeated. */
export function listening(
  { url, profile }: Running,
  tell: boolean,
  views: readonly Saved[],
  { urls, password, state }: Network & { state: string | undefined },
): string {
  const keys = tell && { provisionKey: profile.key, provisionSecret: profile.secret };
  const made = password?.isMadeUp && { adminPassword: password.text };
  const event = { ts: Date.now(), event: "listening", url, state: state ?? "memory" };
  return JSON.stringify({ ...event, ...(urls.length > 0 && { urls }), ...keys, ...made, views });
}

export function viewLine({ id, name }: Saved): string {
  return `  table view           ${id} ${plain(name)}`;
}

/** For people. */
export function greeting(
  { url, profile }: Running,
  { as, state }: { as: string; state?: string },
  tell: boolean,
  { urls, password }: Network,
): string[] {
  const shown = password && (password.isMadeUp ? password.text : "as given");
  return [
    `Local platform, as ${as}, at ${url}`,
    ...urls.map((one) => `  for boards           ${one}`),
    `  console              ${url}/ in a browser`,
    `  tenant               tenant@thingsboard.org / ${shown ?? "tenant"}`,
    `  customer             customer@thingsboard.org / ${shown ?? "customer"}`,
    `  provisioning key     ${tell ? profile.key : "as given"}`,
    `  provisioning secret  ${tell ? profile.secret : "as given"}`,
    `  state                ${state ?? "in memory: it goes with this process (--state DIR keeps it)"}`,
    ...(password ? [WARNING] : []),
  ];
}
