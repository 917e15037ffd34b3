// A staged rollout: assigns, looks, waits, stops at failures. Stores its state on the platform.
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import type { RolloutRecord } from "../../operator/rollout-record.js";
import { stateWord } from "../../operator/update-state.js";
import { eachOf, ifAnswered } from "../operator/operator.js";
import { lookAt, type Standing, standingOf } from "./device-state.js";
import { type DeviceEnd, isProven } from "./evidence.js";
import { handOver } from "./hand-over.js";
import {
  assign,
  conflictingAssignment,
  EXCLUDED,
  hasOtherTitle,
  isAssigned,
  isOurRollout,
  type Member,
  type Members,
  readMembers,
  titleOf,
  updateRecord,
} from "./members.js";
import type { Counts, Outcome, RolloutOptions } from "./outcome.js";
import { plan } from "./stages.js";

/** Devices assigned between two looks. */
const BATCH = 40;
const LOOK_MS = 5_000;
const LATE = "late, joined the profile after this command began";
const PINNED = "with a firmware of its own assigned";

export class Rollout {
  readonly #operator: Operator;
  readonly #options: RolloutOptions;
  /** Ids of all devices that ever took part: each must pass, or be left out by name. */
  readonly #planned = new Set<string>();
  readonly #excluded = new Map<string, DeviceEnd>();
  /** By id: the devices that joined the profile after the first reading. */
  readonly #late = new Map<string, string>();
  /** Ids of devices left out because they are offline. */
  readonly #left = new Set<string>();
  readonly #reported = new Set<string>();
  /** Progress of devices that follow their profile: they have no record on the platform. */
  readonly #unrecorded = new Map<string, Pick<RolloutRecord, "updatedAt" | "passed">>();
  #members!: Members;
  #stage = 0;

  private constructor(operator: Operator, options: RolloutOptions, members: Members) {
    this.#operator = operator;
    this.#options = options;
    this.#take(members);
  }

  /** Throws OperatorError if the platform does not return every device of the profile. */
  static async open(operator: Operator, options: RolloutOptions): Promise<Rollout> {
    return new Rollout(operator, options, await readMembers(operator, options.profile, options.target));
  }

  get members(): Members {
    return this.#members;
  }

  /** Devices of the profile that take no part, and why. */
  get leftOut(): DeviceEnd[] {
    const { pinned, otherTitle: others } = this.#members;
    const isListed = new Set([...pinned, ...others].map(({ id }) => id));
    const excluded = [...this.#excluded].filter(([id]) => !isListed.has(id));
    return [
      ...pinned.map(({ name }) => ({ device: name, why: PINNED })),
      ...others.map(otherTitle),
      ...[...this.#late.values()].map((device) => ({ device, why: LATE })),
      ...excluded.map(([, end]) => end),
    ];
  }

  /** Resolves when the rollout is over. Rejects if the platform refuses a call. */
  async run(): Promise<Outcome> {
    const { stages, report, clock, target, profile } = this.#options;
    for (this.#stage = 1; this.#stage <= stages.length && this.#members.all.length > 0; this.#stage++) {
      const ended = await this.#runStage();
      if (ended) return ended;
      report.ends(this.#stage);
    }
    this.#stage = stages.length;
    const { all } = this.#members;
    const isWhole = this.#inStage().length === all.length;
    const isGood = this.#isProven();
    if (isWhole && isGood) {
      const followers = await this.#otherFollowers();
      if (followers.length > 0) return { ...this.#state(), end: "withheld", devices: followers };
    }
    const ids = { packageId: target.packageId, profileId: profile.id.id };
    const undone = isWhole && isGood ? await handOver(this.#operator, ids, all, clock.now()) : [];
    const state = this.#state();
    if (undone.length > 0) return { ...state, end: "overtaken", devices: undone };
    if (state.passed === 0 || (isWhole && !isGood))
      return { ...state, end: "unproven", devices: this.#notPassed() };
    return { ...state, end: "done", isProfiles: isWhole };
  }

  async #runStage(): Promise<Outcome | undefined> {
    const { clock, timeoutMs, report, stopAt } = this.#options;
    const until = clock.now() + timeoutMs;
    let isRead = this.#stage === 1;
    if (isRead) report.begins(this.#stage, this.#counts());
    for (;;) {
      const began = clock.now();
      if (!isRead) {
        isRead = await this.#read();
        if (isRead) report.begins(this.#stage, this.#counts());
      }
      const conflicts = isRead ? await this.#look() : undefined;
      if (conflicts && conflicts.length > 0)
        return { ...this.#state(), end: "overtaken", devices: conflicts };
      if (conflicts) {
        report.looked(this.#stage, this.#counts());
        const failed = this.#assigned((kind) => kind === "failed").map((member) => this.#described(member));
        for (const { device, why } of failed) this.#once(device, () => report.failed(device, why));
        if (failed.length >= stopAt)
          return { ...this.#state(), stage: this.#reached(), end: "failed", devices: failed };
        const waiting = this.#inStage().filter((member) => !this.#has(member));
        if (waiting.length > 0 && (await this.#assign(waiting.slice(0, BATCH)))) continue;
      }
      const open = this.#inStage().filter((member) => !this.#isOver(member));
      if (conflicts && open.length === 0) return undefined;
      if (clock.now() >= until && !(conflicts && this.#leave(open)))
        return { ...this.#state(), end: "timeout", devices: open.map((member) => this.#described(member)) };
      // Look at a large fleet less often.
      await clock.wait(Math.max(LOOK_MS, 4 * (clock.now() - began)));
    }
  }

  /** Devices of another title that would get the image with the profile. */
  async #otherFollowers(): Promise<DeviceEnd[]> {
    const { profile, target } = this.#options;
    const now = await readMembers(this.#operator, profile, target);
    this.#noteLate(now.all);
    this.#members = { ...this.#members, otherTitle: now.otherTitle };
    if (now.profile === target.packageId) return [];
    return now.otherTitle.filter(({ own }) => own === undefined).map(otherTitle);
  }

  #has(member: Member): boolean {
    return isAssigned(member, this.#options.target, this.#members.profile);
  }

  #standing({ id, seen, record }: Member): Standing {
    const { target, soakMs } = this.#options;
    return standingOf(seen, record ?? this.#unrecorded.get(id), target, soakMs);
  }

  /** Failed and unproven devices too: the rollout goes on if --stop-at tolerates them. */
  #isOver(member: Member): boolean {
    const { kind } = this.#standing(member);
    const isJudged = kind === "passed" || kind === "failed" || kind === "unproven";
    return this.#has(member) && (isJudged || this.#left.has(member.id));
  }

  /** Members with the image assigned, by how they stand. */
  #assigned(fits: (kind: Standing["kind"]) => boolean): Member[] {
    return this.#members.all.filter((member) => this.#has(member) && fits(this.#standing(member).kind));
  }

  #passed(): Member[] {
    return this.#assigned((kind) => kind === "passed");
  }

  #notPassed(): DeviceEnd[] {
    const open = this.#assigned((kind) => kind !== "passed");
    return [...this.#excluded.values(), ...open.map((member) => this.#described(member))];
  }

  /** Failures that --stop-at tolerates and devices that stay offline are left out by name. */
  #isProven(): boolean {
    const leftOut = new Map(this.#excluded);
    for (const member of this.#members.all) {
      const { kind } = this.#standing(member);
      const isNamed = this.#has(member) && (kind === "failed" || kind === "unproven");
      if (isNamed || this.#left.has(member.id)) leftOut.set(member.id, this.#described(member));
    }
    const passed = new Set(this.#passed().map(({ id }) => id));
    return isProven({ planned: this.#planned, passed, leftOut });
  }

  /** The last stage that got the image, perhaps in an earlier call. */
  #reached(): number {
    const noted = this.#members.all.map(({ record }) => record?.stage ?? 0);
    return Math.min(this.#options.stages.length, Math.max(this.#stage, ...noted));
  }

  #inStage(): readonly Member[] {
    const { all } = this.#members;
    return all.slice(0, plan(this.#options.stages, all.length)[this.#stage - 1]);
  }

  #take(members: Members): void {
    const isFirst = this.#planned.size === 0;
    if (isFirst) for (const { id } of members.all) this.#planned.add(id);
    else this.#noteLate(members.all);
    this.#members = { ...members, all: members.all.filter(({ id }) => this.#planned.has(id)) };
    for (const { id } of this.#members.all) this.#excluded.delete(id);
    for (const [id, end] of members.excluded) this.#exclude(id, end);
  }

  #noteLate(members: readonly Member[]): void {
    for (const { id, name } of members)
      if (!this.#planned.has(id) && !this.#late.has(id)) {
        this.#late.set(id, name);
        this.#options.report.note(`${name} is ${LATE}: it is left out.`);
      }
  }

  #exclude(id: string, end: DeviceEnd): void {
    this.#excluded.set(id, end);
    this.#once(`${id} ${end.why}`, () =>
      this.#options.report.note(`${end.device} was ${end.why}: it is left out.`),
    );
    this.#members = { ...this.#members, all: this.#members.all.filter((member) => member.id !== id) };
  }

  /** Reads the members again. False if the platform did not return all of them. */
  async #read(): Promise<boolean> {
    const { profile, target, report } = this.#options;
    const earlier = this.#members.all;
    try {
      const members = await readMembers(this.#operator, profile, target, earlier);
      const known = new Map(earlier.map(({ id, record }) => [id, record]));
      for (const member of members.all) member.record ??= known.get(member.id);
      this.#take(members);
      return true;
    } catch (error) {
      if (!(error instanceof OperatorError && error.isTransient)) throw error;
      this.#once(error.message, () => report.note(error.message));
      return false;
    }
  }

  /** Returns what other operators changed; undefined if the platform did not answer. */
  async #look(): Promise<DeviceEnd[] | undefined> {
    const { target, clock } = this.#options;
    const { all } = this.#members;
    const ids = all.map(({ id }) => id);
    const look = await ifAnswered(lookAt(this.#operator, ids));
    if (!look) return undefined;
    const conflicts: DeviceEnd[] = [];
    for (const member of all) {
      if (look.deleted.has(member.id))
        this.#exclude(member.id, { device: member.name, why: EXCLUDED.deleted });
      member.seen = look.states.get(member.id);
      const why = conflictingAssignment(member, target, clock.now());
      if (why !== undefined) conflicts.push({ device: member.name, why });
      else if (isOurRollout(member.seen?.record, target)) member.record ??= member.seen?.record;
      else if (!member.record && hasOtherTitle(member.seen, target))
        this.#exclude(member.id, { device: member.name, why: titleOf(member) });
    }
    if (conflicts.length === 0) await this.#noteProgress();
    return conflicts;
  }

  /** Stores what must outlive this call: that a soak began or is over. */
  async #noteProgress(): Promise<void> {
    const assigned = this.#members.all.filter((member) => this.#has(member));
    await eachOf(assigned, async (member) => {
      const standing = this.#standing(member);
      const { updatedAt, passed } = member.record ?? this.#unrecorded.get(member.id) ?? {};
      if (standing.kind === "soaking" && standing.since !== updatedAt)
        await this.#progress(member, { updatedAt: standing.since });
      if (standing.kind === "unproven")
        this.#once(`${member.id} unproven`, () =>
          this.#options.report.note(`${member.name} is left out: ${standing.why}.`),
        );
      if (standing.kind === "offline" && updatedAt) await this.#progress(member, { updatedAt: 0 });
      if (standing.kind === "passed" && !passed) await this.#progress(member, { passed: true });
      if (standing.kind === "offline")
        this.#once(`${member.id} ${standing.since}`, () =>
          this.#options.report.offline(member.name, standing.since),
        );
    });
  }

  async #progress(member: Member, change: Pick<RolloutRecord, "updatedAt" | "passed">): Promise<void> {
    if (member.record) await updateRecord(this.#operator, member, change);
    else this.#unrecorded.set(member.id, { ...this.#unrecorded.get(member.id), ...change });
  }

  /** True if at least one of them has the image now, or takes part no more. */
  async #assign(members: readonly Member[]): Promise<boolean> {
    const { target, stages, clock, profile: into } = this.#options;
    const { all, profile } = this.#members;
    const note = {
      ...{ stage: this.#stage, plan: plan(stages, all.length), at: clock.now(), profileId: into.id.id },
      ...(profile !== undefined && { profile }),
    };
    const results = await eachOf(members, async (member) => {
      const result = await assign(this.#operator, member, target, note);
      if (result !== "assigned" && result !== "again")
        this.#exclude(member.id, { device: member.name, why: EXCLUDED[result] });
      return result;
    });
    return results.some((result) => result !== "again");
  }

  /** True if all open devices are offline and stay out. At least one device must have passed. */
  #leave(open: readonly Member[]): boolean {
    if (!this.#options.leaveOffline || this.#passed().length === 0) return false;
    if (!open.every((member) => this.#has(member) && this.#standing(member).kind === "offline")) return false;
    for (const { id } of open) this.#left.add(id);
    return true;
  }

  #once(what: string, report: () => void): void {
    if (this.#reported.has(what)) return;
    this.#reported.add(what);
    report();
  }

  #described(member: Member): DeviceEnd {
    const standing = this.#has(member) ? this.#standing(member) : undefined;
    const state = standing && "state" in standing ? standing.state : undefined;
    return { device: member.name, why: this.#why(member), ...(state !== undefined && { state }) };
  }

  #why(member: Member): string {
    if (!this.#has(member)) return "not assigned: the platform is busy";
    const standing = this.#standing(member);
    switch (standing.kind) {
      case "unknown":
        return "the platform does not return its state";
      case "open":
        return stateWord(standing.state);
      case "failed":
      case "unproven":
        return standing.why;
      case "offline":
        return "offline";
      default:
        return "online for less than --soak";
    }
  }

  #counts(): Counts {
    const standings = { unassigned: 0, unknown: 0, open: 0, offline: 0 };
    const counted = { ...standings, soaking: 0, passed: 0, unproven: 0, failed: 0, left: 0 };
    const members = this.#inStage();
    for (const member of members) {
      if (!this.#has(member)) counted.unassigned++;
      else if (this.#left.has(member.id)) counted.left++;
      else counted[this.#standing(member).kind]++;
    }
    return {
      ...{ devices: members.length, all: this.#members.all.length, standings: counted },
      leftOut: this.leftOut,
    };
  }

  #state(): Omit<Outcome, "end" | "devices" | "isProfiles"> {
    const { all, pinned, otherTitle: others } = this.#members;
    return {
      assigned: all.filter((member) => this.#has(member)).length,
      all: all.length,
      pinned: pinned.map(({ name }) => name),
      otherTitle: others.map(otherTitle),
      late: [...this.#late.values()],
      stage: this.#stage,
      passed: this.#passed().length,
      left: all.filter(({ id }) => this.#left.has(id)).map(({ name }) => name),
      excluded: [...this.#excluded.values()],
    };
  }
}

function otherTitle(member: Member): DeviceEnd {
  return { device: member.name, why: titleOf(member) };
}
