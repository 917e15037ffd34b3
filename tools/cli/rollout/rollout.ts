// A rollout by stages: assigns, looks, waits, and stops at the first device that fails. All that it knows lies on the platform.
import type { Operator } from "../../operator/operator.js";
import { eachOf, ifAnswered } from "../operator/operator.js";
import { type Standing, seeAll, standingOf } from "./device-state.js";
import {
  amend,
  assign,
  isAssigned,
  type Member,
  type Members,
  otherwise,
  ours,
  readMembers,
} from "./members.js";
import type { Counts, DeviceEnd, Outcome, RolloutOptions } from "./outcome.js";
import { plan } from "./stages.js";

const AT_A_TIME = 8;
/** Between two looks so many are assigned. */
const BATCH = 40;
const LOOK_MS = 5_000;

export class Rollout {
  readonly #operator: Operator;
  readonly #options: RolloutOptions;
  readonly #left = new Set<string>();
  readonly #named = new Set<string>();
  #members: Members;
  #stage = 0;

  private constructor(operator: Operator, options: RolloutOptions, members: Members) {
    this.#operator = operator;
    this.#options = options;
    this.#members = members;
  }

  static async open(operator: Operator, options: RolloutOptions): Promise<Rollout> {
    return new Rollout(operator, options, await readMembers(operator, options.profile, options.target));
  }

  get members(): Members {
    return this.#members;
  }

  /** Until it is over. Rejects for what the platform refuses. */
  async run(): Promise<Outcome> {
    const { stages, report } = this.#options;
    for (this.#stage = 1; this.#stage <= stages.length; this.#stage++) {
      if (this.#stage > 1) await this.#read();
      const ended = await this.#runStage();
      if (ended) return ended;
      report.ends(this.#stage);
    }
    this.#stage = stages.length;
    const isWhole = this.#inStage().length === this.#members.all.length;
    if (isWhole) await this.#handOver();
    return { ...this.#state(), end: "done", isProfiles: isWhole };
  }

  async #runStage(): Promise<Outcome | undefined> {
    const { clock, timeoutMs, report, stopAt } = this.#options;
    const until = clock.now() + timeoutMs;
    report.begins(this.#stage, this.#counts());
    for (;;) {
      const began = clock.now();
      const overtaken = await this.#look();
      if (overtaken.length > 0) return { ...this.#state(), end: "overtaken", devices: overtaken };
      report.looked(this.#stage, this.#counts());
      const failed = this.#failed();
      for (const { device, why } of failed) this.#once(device, () => report.failed(device, why));
      if (failed.length >= stopAt)
        return { ...this.#state(), stage: this.#reached(), end: "failed", devices: failed };
      const waiting = this.#inStage().filter((member) => !this.#has(member));
      if (waiting.length > 0 && (await this.#assign(waiting.slice(0, BATCH)))) continue;
      const open = this.#inStage().filter((member) => !this.#isOver(member));
      if (open.length === 0) return undefined;
      if (clock.now() >= until && !this.#leave(open))
        return { ...this.#state(), end: "timeout", devices: open.map((member) => this.#described(member)) };
      // A large fleet is looked at less often.
      await clock.wait(Math.max(LOOK_MS, 4 * (clock.now() - began)));
    }
  }

  #has(member: Member): boolean {
    return isAssigned(member, this.#options.target, this.#members.profile);
  }

  #standing({ seen, record }: Member): Standing {
    return standingOf(seen, record, this.#options.target, this.#options.soakMs);
  }

  /** Failed ones too: the rollout goes on if so many are borne. */
  #isOver(member: Member): boolean {
    const { kind } = this.#standing(member);
    return this.#has(member) && (kind === "passed" || kind === "failed" || this.#left.has(member.id));
  }

  #failed(): DeviceEnd[] {
    return this.#members.all
      .filter((member) => this.#has(member))
      .flatMap((member) => {
        const standing = this.#standing(member);
        return standing.kind === "failed" ? [{ device: member.name, why: standing.why }] : [];
      });
  }

  /** The last stage that got the image, perhaps by an earlier call. */
  #reached(): number {
    const noted = this.#members.all.map(({ record }) => record?.stage ?? 0);
    return Math.min(this.#options.stages.length, Math.max(this.#stage, ...noted));
  }

  #inStage(): readonly Member[] {
    const { all } = this.#members;
    return all.slice(0, plan(this.#options.stages, all.length)[this.#stage - 1]);
  }

  /** Who takes part may have changed. */
  async #read(): Promise<void> {
    const { profile, target } = this.#options;
    const known = new Map(this.#members.all.map(({ id, record }) => [id, record]));
    this.#members = await readMembers(this.#operator, profile, target);
    for (const member of this.#members.all) member.record ??= known.get(member.id);
  }

  /** Returns those that somebody else assigns now. */
  async #look(): Promise<DeviceEnd[]> {
    const { profile, target, clock, report } = this.#options;
    const seen = await ifAnswered(seeAll(this.#operator, profile.name));
    if (!seen) return [];
    const gone = this.#members.all.filter(({ id }) => !seen.has(id));
    for (const { name } of gone) report.note(`${name} is not on the platform any more: it is left out.`);
    if (gone.length > 0)
      this.#members = { ...this.#members, all: this.#members.all.filter(({ id }) => seen.has(id)) };
    const overtaken: DeviceEnd[] = [];
    for (const member of this.#members.all) {
      member.seen = seen.get(member.id) ?? member.seen;
      const other = otherwise(member, target, clock.now());
      if (other !== undefined) overtaken.push({ device: member.name, why: other });
      else member.record ??= ours(member.seen.record, target);
    }
    if (overtaken.length === 0) await this.#noteProgress();
    return overtaken;
  }

  /** What must outlive this call: that a soak began, or is over. */
  async #noteProgress(): Promise<void> {
    const assigned = this.#members.all.filter((member) => member.record && this.#has(member));
    await eachOf(assigned, AT_A_TIME, async (member) => {
      const standing = this.#standing(member);
      const { updatedAt, passed } = member.record ?? {};
      if (standing.kind === "soaking" && standing.since !== updatedAt)
        await amend(this.#operator, member, { updatedAt: standing.since });
      if (standing.kind === "offline" && updatedAt) await amend(this.#operator, member, { updatedAt: 0 });
      if (standing.kind === "passed" && !passed) await amend(this.#operator, member, { passed: true });
      if (standing.kind === "offline")
        this.#once(`${member.id} ${standing.since}`, () =>
          this.#options.report.offline(member.name, standing.since),
        );
    });
  }

  /** True if one of them has the image now, or takes part no more. */
  async #assign(members: readonly Member[]): Promise<boolean> {
    const { target, stages, clock, report } = this.#options;
    const { all, profile } = this.#members;
    const note = {
      ...{ stage: this.#stage, plan: plan(stages, all.length), at: clock.now() },
      ...(profile !== undefined && { profile }),
    };
    const out = new Set<string>();
    const results = await eachOf(members, AT_A_TIME, async (member) => {
      const result = await assign(this.#operator, member, target, note);
      if (result === "gone" || result === "pinned") out.add(member.id);
      if (result === "gone") report.note(`${member.name} is not on the platform any more: it is left out.`);
      if (result === "pinned")
        report.note(`${member.name} was given another firmware meanwhile: it is left out.`);
      return result;
    });
    this.#members = { ...this.#members, all: all.filter(({ id }) => !out.has(id)) };
    return results.some((result) => result !== "again");
  }

  /** True if all that is open is offline and stays behind. At least one device has to show that the image is good. */
  #leave(open: readonly Member[]): boolean {
    const isProven = this.#members.all.some(
      (member) => this.#has(member) && this.#standing(member).kind === "passed",
    );
    if (!this.#options.leaveOffline || !isProven) return false;
    if (!open.every((member) => this.#has(member) && this.#standing(member).kind === "offline")) return false;
    for (const { id } of open) this.#left.add(id);
    return true;
  }

  /** All have it: the profile gets it, so that new devices do too, and the devices get their profile's again. */
  async #handOver(): Promise<void> {
    const { profile, target } = this.#options;
    const { ota } = this.#operator;
    if (this.#members.profile !== target.packageId)
      await ota.assignToProfile(profile.id.id, target.packageId);
    const given = this.#members.all.filter(({ own: id, record }) => record && id === target.packageId);
    await eachOf(given, AT_A_TIME, ({ id }) => ota.assign(id, undefined));
  }

  #once(what: string, say: () => void): void {
    if (this.#named.has(what)) return;
    this.#named.add(what);
    say();
  }

  #described(member: Member): DeviceEnd {
    const standing = this.#standing(member);
    if (!this.#has(member)) return { device: member.name, why: "not assigned: the platform is busy" };
    if (standing.kind === "offline") return { device: member.name, why: "offline" };
    return {
      device: member.name,
      why: standing.kind === "open" ? standing.state : "online for less than --soak",
    };
  }

  #counts(): Counts {
    const standings = { unassigned: 0, open: 0, offline: 0, soaking: 0, passed: 0, failed: 0, left: 0 };
    const members = this.#inStage();
    for (const member of members) {
      if (!this.#has(member)) standings.unassigned++;
      else if (this.#left.has(member.id)) standings.left++;
      else standings[this.#standing(member).kind]++;
    }
    return { devices: members.length, all: this.#members.all.length, standings };
  }

  #state(): Omit<Outcome, "end" | "devices" | "isProfiles"> {
    const { all, pinned } = this.#members;
    const assigned = all.filter((member) => this.#has(member));
    return {
      ...{
        assigned: assigned.length,
        all: all.length,
        pinned: pinned.map(({ name }) => name),
        stage: this.#stage,
      },
      passed: assigned.filter((member) => this.#standing(member).kind === "passed").length,
      left: all.filter(({ id }) => this.#left.has(id)).map(({ name }) => name),
    };
  }
}
