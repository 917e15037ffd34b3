// What the tests of the reports share: the cases' shapes, and a lamp with its second version
// assigned.
import test, { type ExecutionContext } from "ava";
import type { Fault } from "../../../../fakes/platform.js";
import type { SeenRequest } from "../../../../fakes/server.js";
import { IS_SAMPLE, SEED } from "../../../../sample.js";
import { Lamp, type LampOptions } from "./lamp.js";

export const SIZE = 20_000;
export const MINUTE = 60_000;
/** All three tries of a failed update are over by then. */
export const LONG = 75 * MINUTE;

const CONNECTIONS = IS_SAMPLE ? ([2, SEED % 2 === 0 ? 1 : 3] as const) : ([1, 2, 3] as const);

/**
 * Declares a case with each number of connections; the quick tests have the usual one and one of
 * the others.
 */
export function each(title: string, run: (t: ExecutionContext, shape: LampOptions) => Promise<void>): void {
  for (const connections of CONNECTIONS)
    test(`${title} (${connections} connections)`, (t) => run(t, { connections }));
}

const isFirmware = (request: SeenRequest) => request.path.includes("/firmware?");
export const firmwareOnly =
  (fault: (request: SeenRequest) => Fault) =>
  (request: SeenRequest): Fault =>
    isFirmware(request) ? fault(request) : undefined;

export const UPDATED = { state: "UPDATED", error: "", running: "2.0.0" };
export const failed = (error: string) => ({ state: "FAILED", error, running: "1.0.0" });

/** Runs until the update is over; its operator sees what is expected. */
export async function ends(
  t: ExecutionContext,
  lamp: Lamp,
  expected: Lamp["shown"],
  message?: string,
): Promise<void> {
  await lamp.untilState("FAILED", "UPDATED");
  t.deepEqual(lamp.shown, expected, message);
}

/** The lamp's second version, assigned with values that may differ from what its file has. */
export function lampWith(
  shape: LampOptions,
  change: { size?: number; checksum?: string; version?: string },
  bytes = SIZE,
): Lamp {
  const lamp = new Lamp(shape);
  const target = lamp.package("2.0.0", lamp.image("2.0.0", bytes));
  Object.assign(target, change);
  lamp.assign(target);
  return lamp;
}

/** Once, when half of a 40,000 byte image has come; at a pace that leaves time to notice. */
export function atHalf(lamp: Lamp, act: () => void): void {
  lamp.machine.net.options.segmentMs = 400;
  lamp.machine.onOperation = (name) => {
    if (name !== "erase 20480") return;
    lamp.machine.onOperation = undefined;
    lamp.machine.clock.timer(0, act);
  };
}

/** Nothing more happens, however long one waits. */
export async function stays(t: ExecutionContext, lamp: Lamp, fetches = lamp.fetches.length): Promise<void> {
  const { shown, booted } = lamp;
  const starts = booted.length;
  await lamp.pass(LONG);
  t.deepEqual(lamp.shown, shown);
  t.is(booted.length, starts);
  t.is(lamp.fetches.length, fetches);
}

/**
 * The lamp, started with its second version for the first time. `setUp` is called before its first
 * start.
 */
export async function onTrial(shape: LampOptions, setUp: (lamp: Lamp) => void = () => {}): Promise<Lamp> {
  const lamp = lampWith(shape, {});
  setUp(lamp);
  await lamp.until(() => lamp.version === "2.0.0");
  return lamp;
}

/** The platform can't be reached from the first start of the second version on. */
export const away = (lamp: Lamp): void => {
  lamp.onStart = (version) => {
    lamp.reachable = version === "1.0.0";
  };
};
