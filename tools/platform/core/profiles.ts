import type { Clock } from "./common/clock.js";
import type { Ids } from "./common/ids.js";
import { Refused } from "./common/refused.js";
import { type Journal, NO_JOURNAL } from "./journal.js";

export const STRATEGIES = ["DISABLED", "ALLOW_CREATE_NEW_DEVICES", "CHECK_PRE_PROVISIONED_DEVICES"] as const;
export type Strategy = (typeof STRATEGIES)[number];

export interface ProfileFields {
  name: string;
  description?: string;
  strategy: Strategy;
  provisionKey?: string | undefined;
  provisionSecret?: string | undefined;
  firmwareId?: string | undefined;
}

export interface Profile extends ProfileFields {
  readonly id: string;
  readonly createdTime: number;
  readonly isDefault: boolean;
  version: number;
}

const MOST = 1_000;

/** Device profiles by id and provisioning key. `default` always exists. */
export class Profiles {
  readonly #byId = new Map<string, Profile>();
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #journal: Journal;
  readonly default: Profile;

  constructor(clock: Clock, ids: Ids, journal: Journal = NO_JOURNAL, kept: readonly Profile[] = []) {
    this.#clock = clock;
    this.#ids = ids;
    this.#journal = journal;
    for (const profile of kept) this.#byId.set(profile.id, profile);
    this.default =
      kept.find(({ isDefault }) => isDefault) ?? this.#add({ name: "default", strategy: "DISABLED" }, true);
  }

  get(id: string): Profile | undefined {
    return this.#byId.get(id);
  }

  list(): Profile[] {
    return [...this.#byId.values()];
  }

  byName(name: string): Profile | undefined {
    return this.list().find((profile) => profile.name === name);
  }

  byProvisionKey(key: string): Profile | undefined {
    return this.list().find((profile) => profile.provisionKey === key);
  }

  /** Throws Refused. */
  create(fields: ProfileFields): Profile {
    if (this.#byId.size >= MOST) throw new Refused("Device profiles limit reached!");
    this.#check(fields, undefined);
    return this.#add(fields, false);
  }

  /** Throws Refused. */
  update(profile: Profile, fields: ProfileFields): void {
    this.#check(fields, profile);
    Object.assign(profile, fields);
    profile.version++;
    this.#save(profile);
  }

  /** Throws Refused. */
  delete(profile: Profile): void {
    if (profile.isDefault) throw new Refused("Deletion of Default Device Profile is prohibited!");
    this.#byId.delete(profile.id);
    this.#journal.put(["profile", profile.id], undefined);
  }

  #check(fields: ProfileFields, profile: Profile | undefined): void {
    if (fields.name.trim() === "") throw new Refused("Device profile name should be specified!");
    const named = this.byName(fields.name);
    if (named && named !== profile) throw new Refused("Device profile with such name already exists!");
    const keyed = fields.provisionKey ? this.byProvisionKey(fields.provisionKey) : undefined;
    if (keyed && keyed !== profile)
      throw new Refused("Device profile with such provision device key already exists!");
  }

  #add(fields: ProfileFields, isDefault: boolean): Profile {
    const profile = {
      ...fields,
      id: this.#ids.uuid(),
      createdTime: this.#clock.now(),
      isDefault,
      version: 1,
    };
    this.#byId.set(profile.id, profile);
    this.#save(profile);
    return profile;
  }

  #save(profile: Profile): void {
    this.#journal.put(["profile", profile.id, "record"], profile);
  }
}
