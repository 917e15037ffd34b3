// The ten checks of a board (docs/reference/boards.md), over cable, platform and user.
import type { FoundBoard } from "../../moddable/flash/esptool.js";
import { stateWord } from "../../operator/update-state.js";
import { bad, type Finding, good, skipped, warning } from "../finding.js";

/** The board's end of a cable. */
export interface Cable {
  /** Leaves the board in download mode until `restart`. Rejects with advice. */
  identify(): Promise<FoundBoard>;
  restart(): Promise<void>;
  /** All lines since the first restart, oldest first. */
  readonly lines: readonly string[];
}

/** The device at its platform. */
export interface DeviceView {
  /** Newest values of time series, with their time stamps. */
  latest(keys?: readonly string[]): Promise<Readonly<Record<string, { ts: number; value: unknown }>>>;
  /** Client attributes. */
  attributes(keys: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  call(method: string, timeoutMs: number): Promise<unknown>;
}

export type Answer = "yes" | "no" | "skip";

export interface BoardSite {
  /** A string: why there is none. */
  readonly cable: Cable | string;
  readonly device: DeviceView | string;
  /** Version and bytes of an image that was built here for this chip; undefined: none. */
  built(chip: string): string | undefined;
  /** Undefined without a terminal. */
  readonly ask?: (question: string) => Promise<Answer>;
  now(): number;
  pause(ms: number): Promise<unknown>;
}

const LOOK_MS = 250;
const START_MS = 30_000;
const TELEMETRY_MS = 60_000;
const ANSWER_MS = 10_000;
const SLOW_MS = 1000;
const RESETS = 3;
const ONLINE = /Wi-Fi: online/;
const NO_TERMINAL = "needs a person at a terminal";

/** Runs the checks one after the other, and hands each finding on as soon as it is there. */
export async function checkBoard(site: BoardSite, tell: (finding: Finding) => void): Promise<void> {
  const { cable, device } = site;
  const found = typeof cable === "string" ? undefined : await identity(cable, tell);
  tell(checkBuilt(site, found?.chip));
  tell(typeof cable === "string" ? skipped("2 start", cable) : await checkStart(site, cable));
  tell(await asked(site, "3 commissioning", "Did a phone give the board its Wi-Fi on the board's own page?"));
  if (typeof device === "string")
    for (const what of ["4 telemetry", "5 RPC", "6 power"]) tell(skipped(what, device));
  else {
    tell(await checkTelemetry(site, device));
    tell(await checkAnswer(site, device));
    tell(typeof cable === "string" ? skipped("6 power", cable) : await checkResets(site, cable, device));
  }
  tell(
    await asked(
      site,
      "7 network",
      "Was the access point off for five minutes, and did all points of that time arrive afterwards?",
    ),
  );
  tell(typeof device === "string" ? skipped("8 update", device) : await checkUpdate(device));
  tell(
    await asked(
      site,
      "9 power in an update",
      "Was the power cut during a download, and did the board finish that update afterwards?",
    ),
  );
  tell(
    await asked(
      site,
      "10 bad image",
      "Did the board come back with its old version from an image that throws at its start?",
    ),
  );
}

async function identity(cable: Cable, tell: (finding: Finding) => void): Promise<FoundBoard | undefined> {
  try {
    const found = await cable.identify();
    const { chip, flashBytes } = found;
    const flash = flashBytes === undefined ? "flash of unknown size" : `${flashBytes >> 20} MB of flash`;
    tell(good("board", `${chip}, ${flash}`));
    return found;
  } catch (error) {
    tell(bad("board", messageOf(error), "Connect it with a cable that has data lines, then try again."));
    return undefined;
  }
}

function checkBuilt(site: BoardSite, chip: string | undefined): Finding {
  if (chip === undefined) return skipped("1 build", "the chip is not known");
  const image = site.built(chip);
  return image === undefined
    ? skipped("1 build", `no image for ${chip} was built in this folder (mote esp32 --build)`)
    : good("1 build", image);
}

async function checkStart(site: BoardSite, cable: Cable): Promise<Finding> {
  const seconds = await restarted(site, cable);
  if (typeof seconds === "number") return good("2 start", `online ${seconds} s after a reset`);
  return bad("2 start", seconds, "The lines of the report show how far it came.");
}

/** Seconds until it is online, or what is wrong. */
async function restarted(site: BoardSite, cable: Cable): Promise<number | string> {
  const from = cable.lines.length;
  const began = site.now();
  try {
    await cable.restart();
  } catch (error) {
    return messageOf(error);
  }
  while (site.now() - began < START_MS) {
    if (cable.lines.slice(from).some((line) => ONLINE.test(line)))
      return Math.round((site.now() - began) / 1000);
    await site.pause(LOOK_MS);
  }
  return `not online within ${START_MS / 1000} s after a reset: ${cable.lines.length - from} lines, none with "Wi-Fi: online"`;
}

const newest = async (device: DeviceView): Promise<number> =>
  Math.max(0, ...Object.values(await device.latest()).map(({ ts }) => ts));

async function checkTelemetry(site: BoardSite, device: DeviceView): Promise<Finding> {
  const before = await newest(device);
  const began = site.now();
  while (site.now() - began < TELEMETRY_MS) {
    await site.pause(LOOK_MS);
    if ((await newest(device)) > before)
      return good("4 telemetry", `a new point after ${Math.round((site.now() - began) / 1000)} s`);
  }
  return bad(
    "4 telemetry",
    `no new point within ${TELEMETRY_MS / 1000} s`,
    "mote doctor --device NAME looks at the way to the platform.",
  );
}

async function checkAnswer(site: BoardSite, device: DeviceView): Promise<Finding> {
  const began = site.now();
  try {
    await device.call("getStatus", ANSWER_MS);
  } catch (error) {
    return bad(
      "5 RPC",
      messageOf(error),
      "The sample application answers getStatus: is it the one that runs?",
    );
  }
  const ms = Math.round(site.now() - began);
  if (ms <= SLOW_MS) return good("5 RPC", `getStatus was answered in ${ms} ms`);
  return warning("5 RPC", `getStatus was answered in ${ms} ms`, "Expected within a second.");
}

const startsOf = async (device: DeviceView): Promise<number | undefined> => {
  const { starts } = await device.attributes(["starts"]);
  return typeof starts === "number" ? starts : undefined;
};

/** A cable can reset a board. It cannot take its power away: the text says so. */
async function checkResets(site: BoardSite, cable: Cable, device: DeviceView): Promise<Finding> {
  const before = await startsOf(device);
  if (before === undefined)
    return skipped("6 power", "the device publishes no attribute starts, as the sample application does");
  for (let n = 1; n <= RESETS; n++) {
    const seconds = await restarted(site, cable);
    if (typeof seconds === "string") return bad("6 power", `reset ${n}: ${seconds}`, "See its lines.");
  }
  const began = site.now();
  let after = before;
  while (after < before + RESETS && site.now() - began < TELEMETRY_MS) {
    await site.pause(LOOK_MS);
    after = (await startsOf(device)) ?? after;
  }
  if (after !== before + RESETS)
    return bad(
      "6 power",
      `starts went from ${before} to ${after} in ${RESETS} resets`,
      "Each reset is one start of the same device.",
    );
  const plug = await site.ask?.(
    "Pull the plug ten times at random. Is it the same device afterwards, with no gap but while it was off?",
  );
  if (plug === "no")
    return bad("6 power", "resets were counted; power losses were not survived", "Say what you saw.");
  return good(
    "6 power",
    `${RESETS} resets over the cable, each counted${plug === "yes" ? "; ten power losses survived" : "; its power was not cut"}`,
  );
}

async function checkUpdate(device: DeviceView): Promise<Finding> {
  const { fw_state: state, current_fw_version: version } = await device.latest([
    "fw_state",
    "current_fw_version",
  ]);
  if (state?.value === "UPDATED")
    return good("8 update", `confirmed, version ${String(version?.value)} runs`);
  if (state === undefined) return skipped("8 update", "no update was pushed yet (mote firmware push)");
  return warning(
    "8 update",
    `the last state is "${stateWord(state.value)}"`,
    "Wait until it is confirmed, then run this again.",
  );
}

async function asked({ ask }: BoardSite, what: string, question: string): Promise<Finding> {
  const answer = await ask?.(question);
  if (answer === "yes") return good(what, "seen by a person");
  if (answer === "no") return bad(what, "a person saw it fail", "Describe what you saw in the issue.");
  return skipped(what, answer === undefined ? NO_TERMINAL : "not tried");
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
