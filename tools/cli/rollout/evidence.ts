// What must be proved before a rollout's image goes to a whole device profile.

/** A device that did not pass, with the reason that is shown to the operator. */
export interface DeviceEnd {
  readonly device: string;
  readonly why: string;
  /** If an update state is the reason: `fw_state` as the device reported it, or `waiting`. */
  readonly state?: string;
}

export interface Evidence {
  readonly packageId: string;
  readonly profileId: string;
  /** Ids of all devices that ever took part in the rollout. */
  readonly planned: ReadonlySet<string>;
  /** Ids of devices that were seen to run the image for the soak. */
  readonly passed: ReadonlySet<string>;
  /** By id: devices that are left out by name, each for a reason that the platform confirmed. */
  readonly leftOut: ReadonlyMap<string, DeviceEnd>;
}

/**
 * Proof that an image may go to the whole profile. Only `prove` creates one: from at least one
 * device that passed,
 * when each planned device passed or is left out by name.
 */
export class ProvenRollout {
  readonly packageId: string;
  readonly profileId: string;
  /** Makes the type nominal: no object literal can stand in for a proof. */
  readonly #isProven = true;

  private constructor({ packageId, profileId }: Evidence) {
    this.packageId = packageId;
    this.profileId = profileId;
  }

  static prove(evidence: Evidence): ProvenRollout | undefined {
    const { planned, passed, leftOut } = evidence;
    const isPlanned = (id: string): boolean => planned.has(id);
    const accounted = new Set([...passed, ...leftOut.keys()].filter(isPlanned));
    const isComplete = accounted.size === planned.size && [...passed].some(isPlanned);
    return isComplete ? new ProvenRollout(evidence) : undefined;
  }

  /** True for a proof, false for what only has its shape. */
  static isProof(value: object): value is ProvenRollout {
    return #isProven in value;
  }
}
