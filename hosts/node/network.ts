import { networkInterfaces } from "node:os";
import type { Clock } from "../../src/port.js";

const LOOK_MS = 5000;

/** Not by Node's own types: who imports the host must not need them. */
type Interfaces = () => Readonly<
  Record<string, readonly { readonly address: string; readonly internal: boolean }[] | undefined>
>;

/**
 * Calls `returned` each time the machine has an address that it had not 5 s ago: an interface came up, or DHCP answered. For `agent.networkReturned()`.
 * Returns what ends it.
 */
export function watchNetwork(
  clock: Pick<Clock, "timer">,
  returned: () => void,
  interfaces: Interfaces = networkInterfaces,
): () => void {
  let known = addresses(interfaces);
  let cancel: () => void = () => {};
  const look = (): void => {
    const now = addresses(interfaces);
    const isNew = now.some((address) => !known.includes(address));
    known = now;
    again();
    if (isNew) returned();
  };
  const again = (): void => {
    cancel = clock.timer(LOOK_MS, look);
  };
  again();
  return () => cancel();
}

/** Those by which others are reached; none if the system does not say. */
function addresses(interfaces: Interfaces): string[] {
  try {
    return Object.entries(interfaces()).flatMap(([name, all = []]) =>
      all.filter(({ internal }) => !internal).map(({ address }) => `${name} ${address}`),
    );
  } catch {
    return [];
  }
}
