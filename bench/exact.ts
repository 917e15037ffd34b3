// All figures that are the same in every run on every machine.
import { busiest, bySecond, comeBack } from "../test/tools/fleet/comeback.js";
import { unavailable } from "../test/xs/engine/worker.js";
import { batteryDay } from "./battery-day.js";
import { measureTraffic, type Spent } from "./traffic.js";
import { slotsOnXs, stepsOnXs } from "./xs.js";

type Figures = Readonly<Record<string, number>>;

export interface Exact {
  readonly traffic: Readonly<Record<string, Spent>>;
  readonly "steps of a point on XS": Figures;
  readonly "slots of an idle agent on XS": Figures;
  /** 100,000 agents that lost the platform at one instant. */
  readonly "fleet return": Figures;
  readonly "battery day": Figures;
}

const DEVICES = 100_000;
const SEED = 1;
const OUTAGES = { "after 1 h": 3_600_000, "after 60 s": 60_000 };

const fleetReturn = (): Figures =>
  Object.fromEntries(
    Object.entries(OUTAGES).map(([name, ms]) => [
      `devices in the busiest second ${name}`,
      busiest(bySecond(comeBack(DEVICES, { ms }, SEED))),
    ]),
  );

const ROWS: { readonly [Name in keyof Exact]: () => Promise<Exact[Name]> | Exact[Name] } = {
  traffic: measureTraffic,
  "steps of a point on XS": stepsOnXs,
  "slots of an idle agent on XS": slotsOnXs,
  "fleet return": fleetReturn,
  "battery day": batteryDay,
};

export const NAMES = Object.keys(ROWS) as (keyof Exact)[];

/** Why this machine cannot measure a row; undefined if it can. */
export const lacking = (name: keyof Exact): string | undefined =>
  name.endsWith("on XS") ? unavailable() : undefined;

export const measureExact = async (name: keyof Exact): Promise<Exact[typeof name]> => ROWS[name]();
