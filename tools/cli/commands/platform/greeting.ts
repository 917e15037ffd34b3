// What `mote platform` says when it is there.
import { styleText } from "node:util";
import { renderUnicodeCompact } from "uqr";
import { calledAs } from "../../called-as.js";
import { plain } from "../../output/table.js";
import { type Password, WARNING } from "./network.js";

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

/** For programs. Their output is a log, so it holds no secret: the tenant reads a made-up one in the device profile. */
export function listening(
  { url, profile }: Running,
  tell: boolean,
  views: readonly Saved[],
  { urls, state }: { urls: readonly string[]; state: string | undefined },
): string {
  const keys = { ...(tell && { provisionKey: profile.key }), provisionSecret: null };
  const event = { ts: Date.now(), event: "listening", url, state: state ?? "memory" };
  return JSON.stringify({ ...event, ...(urls.length > 0 && { urls }), ...keys, views });
}

export function viewLine({ id, name }: Saved): string {
  return `  table view           ${id} ${plain(name)}`;
}

/** For people, with what was made up. Who gave a key, secret or password knows it: it is not repeated. */
export function greeting(
  { url, profile }: Running,
  { state }: { state: string | undefined },
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
    `  state                ${state ?? "in memory: it goes with this process (without --no-state it is kept)"}`,
    ...(password ? [WARNING] : []),
  ];
}

/** What to do next: lines to copy, and the console for a phone where one can reach it. */
export function nextSteps(
  { url, profile }: Running,
  ca: string | undefined,
  tell: boolean,
  urls: readonly string[],
): string[] {
  const [key, secret] = tell
    ? [profile.key, profile.secret]
    : ['"$MOTE_PROVISION_KEY"', '"$MOTE_PROVISION_SECRET"'];
  const trust = ca === undefined ? "" : ` --ca ${ca}`;
  const mote = calledAs();
  const [reachable] = urls;
  return [
    "",
    "A device, in another terminal:",
    `  ${mote} run --url ${url}${trust} --provision-key ${key} --provision-secret ${secret} --device-name greenhouse-7 --state ./greenhouse-7`,
    "An operator:",
    `  ${mote} login --url ${url} --username tenant@thingsboard.org`,
    ...(reachable === undefined ? [] : consoleCode(`${reachable}/`)),
    "",
  ];
}

function consoleCode(address: string): string[] {
  return [`The console on a phone of the same network, ${address}:`, ...qrCode(address)];
}

/** As a QR code, light on dark whatever the terminal's own colours are: not every phone reads one the other way round. */
export function qrCode(
  address: string,
  screen: { isTTY?: boolean; hasColors?: () => boolean } = process.stdout,
): string[] {
  const lines = renderUnicodeCompact(address, { border: 4 }).split("\n");
  const isColoured = screen.isTTY === true && screen.hasColors?.() === true;
  return isColoured ? lines.map((line) => styleText(["whiteBright", "bgBlack"], line)) : lines;
}
