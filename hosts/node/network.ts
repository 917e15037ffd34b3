import { networkInterfaces } from "node:os";
import type { Clock } from "../../src/port.js";

const CHECK_MS = 5000;

/** Declared without Node's types, because importers of the host may lack them. */
type Interfaces = () => Readonly<
  Record<string, readonly { readonly address: string; readonly internal: boolean }[] | undefined>
>;

/**
 * Calls `returned` each time the machine gets a new address (interface up, DHCP), checked every 5
 * s, for `agent.networkReturned()`. Returns a stop function.
 */
export function watchNetwork(
  clock: Pick<Clock, "timer">,
  returned: () => void,
  interfaces: Interfaces = networkInterfaces,
): () => void {
  let known = addresses(interfaces);
  let cancel: () => void = () => {};
  const check = (): void => {
    const now = addresses(interfaces);
    const isNew = now.some((address) => !known.includes(address));
    known = now;
    again();
    if (isNew) returned();
  };
  const again = (): void => {
    cancel = clock.timer(CHECK_MS, check);
  };
  again();
  return () => cancel();
}

/** External addresses; none if the system does not report them. */
function addresses(interfaces: Interfaces): string[] {
  try {
    return Object.entries(interfaces()).flatMap(([name, all = []]) =>
      all.filter(({ internal }) => !internal).map(({ address }) => `${name} ${address}`),
    );
  } catch {
    return [];
  }
}
