// The promises of README.md, each broken on purpose: what `npm run mutants` applies one by one, and what has to be seen by a test.
import { delivery } from "./delivery.js";
import { firmwareAndHost } from "./firmware-and-host.js";
import { log } from "./log.js";
import type { Mutant } from "./mutant.js";
import { rpcAndAttributes } from "./rpc-and-attributes.js";
import { trust } from "./trust.js";

export type { Mutant } from "./mutant.js";

export const mutants: readonly Mutant[] = [
  ...delivery,
  ...rpcAndAttributes,
  ...firmwareAndHost,
  ...trust,
  ...log,
];

/** `source` with the mutant in it; undefined if its text is not in it exactly once. */
export function mutate({ find, replace }: Mutant, source: string): string | undefined {
  const parts = source.split(find);
  return parts.length === 2 && find !== replace ? parts.join(replace) : undefined;
}
