// Builds a server's parts from its options: core with stored state, provisioning profile, identity.
import type { Clock } from "./core/common/clock.js";
import { type Ids, randomIds } from "./core/common/ids.js";
import { PlatformCore } from "./core/platform.js";
import type { PlatformServerOptions as Options } from "./options.js";
import { type Identity, newIdentity } from "./rest/identity.js";
import { State, type StateError } from "./state/state.js";

const PROFILE_NAME = "Mote";

export function openState({ state }: Options, close: () => void): State | undefined {
  if (state === undefined) return undefined;
  const onLost = (error: StateError): void => {
    // Whoever waits for an answer must not take it for one: the connections end.
    close();
    state.onLost?.(error);
  };
  return new State({ directory: state.directory, onLost });
}

export function createCore(clock: Clock, state: State | undefined): PlatformCore {
  try {
    const core = new PlatformCore({
      clock,
      ...(state && { journal: state, profiles: state.profiles }),
    });
    state?.restore(core);
    return core;
  } catch (error) {
    state?.close();
    throw error;
  }
}

/** The profile that devices may create themselves with, and how they do. */
export function openProfile(
  { profiles }: PlatformCore,
  given: Options["profile"],
): { key: string; secret: string } {
  const before = profiles.byName(PROFILE_NAME);
  const { provisionKey, provisionSecret } = before ?? {};
  if (before && provisionKey && provisionSecret && !given)
    return { key: provisionKey, secret: provisionSecret };
  const { key, secret } = given ?? { key: randomIds.token(20), secret: randomIds.token(20) };
  const how = { strategy: "ALLOW_CREATE_NEW_DEVICES", provisionKey: key, provisionSecret: secret } as const;
  if (before) profiles.update(before, { ...before, ...how });
  else profiles.create({ name: PROFILE_NAME, ...how });
  return { key, secret };
}

export function openIdentity(state: State | undefined, ids: Ids, now: number): Identity {
  const kept = state?.setting("identity");
  if (kept !== undefined) return kept as Identity;
  const identity = newIdentity(ids, now);
  state?.put(["setting", "identity"], identity);
  return identity;
}
