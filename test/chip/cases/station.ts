// A realistic application that uses its whole share of the engine's memory.
import { Dice } from "../../simulation/dice.js";
import { application, Bench, imageOf, ONLINE_MS, UPDATE_MS } from "../bench.js";
import { type Case, type Context, check, type Figures } from "../case.js";
import type { Settings } from "../rig.js";

/** What every application may have at least, on an ESP32-C3. */
const LEAST_SHARE = 32_768;
/** Of the share: the rest is for what the application makes and drops at once. */
const USED = 0.95;
/** Bytes of an object of four numbers, and of its place in an array. */
const OBJECT = 96;
/** So many objects more do not matter. */
const FEW = 5;
/** Readings in the ring, one a second. */
const RING = 60;
const LOOKS = 4;
const LOOK_MS = 2000;
/** Rounds of the load between two looks at its memory. */
const LOOK_EVERY = 10;
const SETTINGS = 15;
/** Bytes of the text in each of them: all of them are almost the promised 2,048 bytes. */
const PADDING = 40;
/** Bytes of an echoed text that fits the promised 1,024 bytes with all that is around it. */
const FITS = 940;
const QUICK = { updates: 1, ms: 60_000 } as const;
const WHOLE = { updates: 6, ms: 600_000 } as const;
/** Share that is filled: more than the application's. */
const FULL = 1.1;
/** Objects that no engine holds. */
const TOO_MANY = 4000;
/** The update of each of them: an image that the other cases have, too. */
const FIXED = "2.0.1";
/** Five crashes, recovery mode, a lost power and an update; more would be endless. */
const MOST_RESTARTS = 8;
const MORE = { connections: 3 };

type StationMemory = Readonly<
  Record<
    "application" | "applicationLeft" | "chunksFree" | "engine" | "engineFree" | "engineLeft" | "leastFree",
    number
  >
>;

const memoryOf = (bench: Bench): Promise<StationMemory> => bench.ask("memory") as Promise<never>;

/** Of a board that has nothing in progress: the most that was left in a few looks. */
async function restOf(bench: Bench): Promise<StationMemory> {
  let rest = await memoryOf(bench);
  for (let look = 0; look < LOOKS; look++) {
    await new Promise((go) => setTimeout(go, LOOK_MS));
    const now = await memoryOf(bench);
    if (now.applicationLeft > rest.applicationLeft) rest = now;
  }
  return rest;
}

const settingsOf = (n: number): Record<string, unknown> =>
  Object.fromEntries(
    Array.from({ length: SETTINGS }, (_, i) => [
      `setting${i}`,
      { low: i, high: i + n, on: true, zone: { at: [1, 2, n % 1000] }, note: "x".repeat(PADDING) },
    ]),
  );

/** Fills the share as far as an application may. */
async function fill(bench: Bench, say: Context["say"]): Promise<StationMemory> {
  await bench.ask("ring", { most: RING });
  await bench.tenant.attributes.set(await bench.needId(), "SHARED_SCOPE", settingsOf(1));
  await bench.until(ONLINE_MS, "all attributes", async () => {
    const sizes = (await bench.ask("settings")) as number[];
    return sizes.length === SETTINGS;
  });
  // More than once: the first look may have seen the attributes while they were read.
  for (let kept = 0; ; ) {
    const memory = await restOf(bench);
    const { application: share, applicationLeft } = memory;
    const { ring } = (await bench.ask("getStatus")) as { ring: number };
    const n = Math.floor((applicationLeft - (1 - USED) * share) / OBJECT) - (RING - ring);
    check(kept + n > 0, `no room for one object: ${applicationLeft} bytes of ${share} are left`);
    if (n < FEW) {
      say(`${kept} objects kept: ${JSON.stringify(memory)}`);
      return memory;
    }
    await bench.ask("keep", { n });
    kept += n;
  }
}

type Deed = readonly [name: string, refusedBy: RegExp | undefined, method: string, params: unknown];

const DEEDS: readonly Deed[] = [
  ["a request that fits", undefined, "echo", { v: "x".repeat(FITS) }],
  ["a short request", undefined, "getStatus", {}],
  ["a computation", undefined, "statistics", {}],
  ["a switch", undefined, "setRelay", { relay: 2, on: true }],
  ["the display", undefined, "display", {}],
  ["a long request", /PARAMS_TOO_LARGE/, "echo", { v: "x".repeat(5000) }],
  ["a deep request", /PARAMS|DEEP|BAD|error/, "echo", JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`)],
  ["an unknown method", /METHOD_NOT_FOUND/, "fly", {}],
];

async function hour(secure: boolean, { seed, quick, say }: Context): Promise<Figures> {
  const settings: Settings = { program: "station-app", secure, more: MORE };
  await using bench = await Bench.open(secure ? "station-tls" : "station", settings, "soft");
  const dice = new Dice(seed);
  const starts = (): number => bench.board.lines.filter((line) => line.startsWith("rst:")).length;
  const { updates, ms } = quick ? QUICK : WHOLE;
  let [sent, refused, changed] = [0, 0, 0];
  const deed = async (): Promise<void> => {
    const [name, refusal, method, params] = dice.pick(DEEDS);
    // Rejects without an answer: the board may be restarting, or hang.
    const answer = String(await bench.ask(method, params).then(JSON.stringify, String));
    sent++;
    if (refusal === undefined && /error|timeout/i.test(answer)) {
      refused++;
      say(`${name}: ${answer.slice(0, 200)}`);
    }
  };
  const change = async (): Promise<void> => {
    await bench.tenant.attributes.set(await bench.needId(), "SHARED_SCOPE", settingsOf(++changed));
  };
  await bench.online();
  const first = await memoryOf(bench);
  check(first.application >= LEAST_SHARE, `the application's share is ${first.application} bytes`);
  let { leastFree: least, engineFree: leastEngine, chunksFree: leastChunks, engineLeft: neverUsed } = first;
  for (let update = 1; update <= updates; update++) {
    const filled = await fill(bench, say);
    const began = starts();
    const version = `2.0.${update}`;
    const end = Date.now() + ms;
    const rounds = async (more: () => Promise<boolean>): Promise<void> => {
      for (let round = 1; await more(); round++) {
        await Promise.all([deed(), deed(), ...(dice.chance(0.2) ? [change()] : [])]);
        const now = round % LOOK_EVERY === 0 ? await memoryOf(bench).catch(() => undefined) : undefined;
        if (now) {
          least = Math.min(least, now.leastFree);
          leastEngine = Math.min(leastEngine, now.engineFree);
          leastChunks = Math.min(leastChunks, now.chunksFree);
          neverUsed = Math.min(neverUsed, now.engineLeft);
        }
        check(starts() === began, `it restarted: ${bench.board.lines.slice(-20).join("\n")}`);
      }
    };
    await rounds(async () => Date.now() < end);
    least = Math.min(least, filled.leastFree);
    await bench.assign(version, application(await imageOf({ ...settings, version })));
    const late = Date.now() + UPDATE_MS;
    const state = async (): Promise<string> => String(await bench.latest("fw_state"));
    await rounds(async () => {
      check(Date.now() < late, `no update within ${UPDATE_MS} ms: ${await state()}`);
      return !["DOWNLOADED", "VERIFIED", "UPDATING", "UPDATED"].includes(await state());
    });
    await bench.until(UPDATE_MS, "the update", async () => (await state()) === "UPDATED");
  }
  check(refused === 0, `${refused} requests within the promised sizes were refused`);
  return {
    share: first.application,
    engine: first.engine,
    restFree: first.engineFree,
    sent,
    refused,
    changed,
    updates,
    leastFree: least,
    leastEngineFree: leastEngine,
    leastChunksFree: leastChunks,
    engineNeverUsed: neverUsed,
  };
}

const station = (secure: boolean): Case => ({
  name: secure ? "station-tls" : "station",
  title: `an application that uses 95 % of its share is never restarted${secure ? ", over TLS" : ""}`,
  run: (context) => hour(secure, context),
});

export const STATION = station(false);
export const STATION_TLS = station(true);

/**
 * A board whose application keeps `kept` objects, under load, until it took an update that keeps
 * none.
 */
async function tryUpdate(kept: number, { seed, quick, say }: Context): Promise<Figures> {
  const settings: Settings = { program: "station-app", more: { ...MORE, kept } };
  const fixed: Settings = { program: "station-app", version: FIXED, more: MORE };
  await using bench = await Bench.open("station-full", settings, "soft");
  const dice = new Dice(seed);
  const starts = (): number => bench.board.lines.filter((line) => line.startsWith("rst:")).length;
  const heard = (pattern: RegExp): string | undefined => bench.board.lines.find((line) => pattern.test(line));
  const reported = async (): Promise<string> => String((await bench.client("moteRecovery")) ?? "");
  bench.board.on();
  await bench.until(ONLINE_MS * 4, "the device", async () => (await bench.id()) !== undefined);
  await bench.tenant.attributes.set(await bench.needId(), "SHARED_SCOPE", settingsOf(1));
  let [sent, short] = [0, 0];
  const rounds = async (more: () => Promise<boolean>): Promise<void> => {
    while (await more()) {
      const [, , method, params] = dice.pick(DEEDS);
      const answer = String(await bench.ask(method, params).then(JSON.stringify, String));
      sent++;
      if (answer.includes("MEMORY_SHORT")) short++;
    }
  };
  const end = Date.now() + (quick ? QUICK : WHOLE).ms;
  await rounds(async () => Date.now() < end && (await reported()) === "");
  const [recovery, atRest] = [await reported(), starts()];
  if (recovery !== "") {
    // The power fails as well: the next start still says why the application does not run.
    const from = bench.board.lines.length;
    await bench.board.off();
    bench.board.on();
    await bench.board.line(/recovery mode: the application is not started \(memory full/, ONLINE_MS, from);
  }
  await bench.assign(FIXED, application(await imageOf(fixed)));
  const late = Date.now() + UPDATE_MS;
  await rounds(async () => {
    check(Date.now() < late, `no update: ${bench.board.lines.slice(-20).join("\n")}`);
    return !["VERIFIED", "UPDATING", "UPDATED"].includes(String(await bench.latest("fw_state")));
  });
  const restarts = starts() - 1;
  const said = heard(/^mote: memory full/) ?? heard(/memory is short/) ?? "";
  check(restarts <= MOST_RESTARTS, `it restarted ${restarts} times`);
  say(`${kept} objects: ${said || "no shortage"}`);
  return { kept, sent, short, said, moteRecovery: recovery, startsAtRest: atRest, restarts };
}

const suffixed = (suffix: string, figures: Figures): Figures =>
  Object.fromEntries(Object.entries(figures).map(([key, value]) => [`${key}${suffix}`, value]));

/** What an application keeps that takes 110 % of its share, beside its settings and its ring. */
async function tooMuch({ say }: Context): Promise<number> {
  await using bench = await Bench.open("station-full", { program: "station-app", more: MORE }, "soft");
  await bench.online();
  const { application: share, applicationLeft } = await fill(bench, say);
  const { kept } = (await bench.ask("keep", { n: 0 })) as { kept: number };
  // Round, so that the image is built once.
  return Math.ceil((kept + (applicationLeft + (FULL - 1) * share) / OBJECT) / 10) * 10;
}

export const STATION_FULL: Case = {
  name: "station-full",
  title: "an application that takes more than its share is named, and its device takes an update",
  async run(context) {
    const most = await tryUpdate(TOO_MANY, context);
    check(/memory full/.test(String(most.moteRecovery)), `moteRecovery: ${most.moteRecovery}`);
    const over = await tryUpdate(await tooMuch(context), context);
    return { ...suffixed(" of much more", most), ...suffixed(" of 110 %", over) };
  },
};
