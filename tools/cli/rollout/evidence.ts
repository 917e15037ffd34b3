// What must be proved before a rollout's image goes to a whole device profile.

/** A device that did not pass, with the reason that is shown to the operator. */
export interface DeviceEnd {
  readonly device: string;
  readonly why: string;
  /** If an update state is the reason: `fw_state` as the device reported it, or `waiting`. */
  readonly state?: string;
}

export interface Evidence {
  /** Ids of all devices that ever took part in the rollout. */
  readonly planned: ReadonlySet<string>;
  /** Ids of devices that were seen to run the image for the soak. */
  readonly passed: ReadonlySet<string>;
  /** By id: devices that are left out by name, each for a reason that the platform confirmed. */
  readonly leftOut: ReadonlyMap<string, DeviceEnd>;
}

/** One device passed, and each planned device passed or is left out by name. */
export function isProven({ planned, passed, leftOut }: Evidence): boolean {
  const isPlanned = (id: string): boolean => planned.has(id);
  const accounted = new Set([...passed, ...leftOut.keys()].filter(isPlanned));
  return accounted.size === planned.size && [...passed].some(isPlanned);
}
