// The fault switchboard's JSON.
//
// POST /api/faults    adds faults and answers as GET does:
//   {"seed": 7, "faults": [{"fault": "delay", "ms": 500, "match": {"path": "rpc*"}, "count": 3}]}
// GET /api/faults     {"faults": [{"id": 1, "fault": "delay", …, "seed": 7, "seen": 4, "done": 3}]}
// DELETE /api/faults  removes all. Ids start at 1 again, so that the same POST gives the same run.
//
// Faults apply to the device API only.

import { Refused } from "../core/common/refused.js";

/**
 * Faults:
 * - `delay` `{ms}`: sends the answer later. Delays add up and combine with every other fault.
 * - `drop` `{at}`: sends nothing and leaves the connection open.
 *   `at: "answer"` (default): the platform handled the request; `at: "request"`: it never saw it.
 * - `reset` `{afterBytes}`: resets the connection after so many bytes of the answer (default 0).
 * - `truncated` `{afterBytes}`: ends the answer early and closes the connection in order; by
 *   default within the body, or within the head if there is no body.
 * - `status` `{status, body, at}`: answers this status, with `body` as text (default none).
 *   `at: "request"` (default): the platform never saw the request; `at: "answer"`: it handled it.
 * - `not-stored`: answers POST telemetry and attributes 200 and loses the values.
 *
 * Of drop, reset, truncated and status, only the first that matches a request applies.
 */
export const FAULTS = ["delay", "drop", "reset", "truncated", "status", "not-stored"] as const;
export type FaultName = (typeof FAULTS)[number];

/** Which requests it is for; what is absent holds for all. */
export interface Match {
  /** `GET`, `POST`, ... */
  method?: string;
  /** Path after the token: `telemetry`, `rpc/0`, `provision`; `*`: any characters. */
  path?: string;
  /** Name of the device. */
  device?: string;
}

export interface FaultRule {
  fault: FaultName;
  match: Match;
  /** Fitting requests that are spared first. Default 0. */
  skip: number;
  /** How many times it happens at most. Default: without end. */
  count?: number;
  /** From 0 to 1; drawn by the seed. Default 1. */
  probability: number;
  ms?: number;
  at?: "request" | "answer";
  afterBytes?: number;
  status?: number;
  body?: string;
}

export interface FaultPost {
  /** A whole number; the rules of this POST draw from it, each by itself. Default 1. */
  seed: number;
  faults: FaultRule[];
}

type Check = (value: unknown) => boolean;

const whole =
  (from: number, to: number): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= from && (value as number) <= to;
const text =
  (longest: number): Check =>
  (value) =>
    typeof value === "string" && value.length <= longest;
const at: Check = (value) => value === "request" || value === "answer";
const chance: Check = (value) => typeof value === "number" && value >= 0 && value <= 1;

const LARGEST = 16_777_216;
const COMMON: Record<string, Check> = { skip: whole(0, 1e9), count: whole(1, 1e9), probability: chance };
const MATCH: Record<string, Check> = { method: text(20), path: text(200), device: text(255) };
/** Members of each, beside the common ones. */
const MEMBERS: Record<FaultName, Record<string, Check>> = {
  delay: { ms: whole(0, 600_000) },
  drop: { at },
  reset: { afterBytes: whole(0, LARGEST) },
  truncated: { afterBytes: whole(0, LARGEST) },
  status: { status: whole(200, 599), body: text(65_536), at },
  "not-stored": {},
};
const NEEDED: Partial<Record<FaultName, keyof FaultRule>> = {
  delay: "ms",
  status: "status",
};
const MOST = 100;

/** Reads a POST. Throws Refused with what is wrong in it. */
export function readPost(json: Readonly<Record<string, unknown>>): FaultPost {
  const { seed = 1, faults } = json;
  checkMembers("the request", json, { seed: whole(-(2 ** 31), 2 ** 32), faults: Array.isArray });
  if (!Array.isArray(faults) || faults.length === 0 || faults.length > MOST)
    throw new Refused(`'faults' must be a list of 1 to ${MOST} faults`);
  return { seed: seed as number, faults: faults.map(readRule) };
}

function readRule(json: unknown): FaultRule {
  if (!isObject(json)) throw new Refused("a fault must be an object");
  const { fault, match = {}, ...members } = json;
  const name = FAULTS.find((known) => known === fault);
  if (!name) throw new Refused(`'fault' must be one of ${FAULTS.join(", ")}`);
  if (!isObject(match)) throw new Refused("'match' must be an object");
  checkMembers("match", match, MATCH);
  checkMembers(name, members, { ...COMMON, ...MEMBERS[name] });
  const needed = NEEDED[name];
  if (needed && members[needed] === undefined) throw new Refused(`${name} requires '${needed}'`);
  const { skip = 0, probability = 1, ...rest } = members as Partial<FaultRule>;
  return { fault: name, match: { ...match }, skip, probability, ...rest };
}

/** Own members only, all of them known, each as it must be. */
function checkMembers(where: string, json: object, checks: Record<string, Check>): void {
  for (const [name, value] of Object.entries(json)) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined;
    if (!check) throw new Refused(`unknown member '${name.slice(0, 50)}' of ${where}`);
    if (!check(value)) throw new Refused(`invalid '${name}' of ${where}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
