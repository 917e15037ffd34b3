// One visit of the official client of Improv to a new board, line by line: the same lines wherever
// the device's code runs.
import type { OfficialClient } from "./official-client.js";

type Wifi = readonly [ssid: string, password: string];

export interface Visited {
  readonly client: OfficialClient;
  /** Firmware, its version, chip and name, as the device says them. */
  readonly about: string;
  /** Where its platform shows it. */
  readonly place: string;
  readonly wifi: Wifi;
  /**
   * A radio that hears: what it hears, and a Wi-Fi that it can't join. The emulated chip's is its
   * Ethernet.
   */
  readonly air?: { readonly near: string; readonly wrong: Wifi };
  /** From the power on. */
  readonly bootMs: number;
  readonly checkMs: number;
  /** Resolves when the board, which restarts by itself, runs its application. */
  running(): Promise<void>;
}

interface Shown {
  readonly lines: string[];
  /** From the first request, which a board that starts may miss, to the first answer. */
  readonly firstMs: number;
  /** The longest that the client waited for the state of a board that runs. */
  readonly slowestMs: number;
}

/** What the client shows. */
export async function visit(board: Visited): Promise<Shown> {
  const { client, wifi, air } = board;
  const lines: string[] = [];
  let slowestMs = 0;
  const note = async (asked: string, step: () => Promise<unknown>): Promise<void> => {
    lines.push(`${asked}: ${await step().catch((error) => error)}`);
  };
  const state = (): string => [client.state, client.nextUrl ?? "no address"].join(", ");
  const ask = async (): Promise<string> => {
    const began = Date.now();
    await client.requestCurrentState();
    slowestMs = Math.max(slowestMs, Date.now() - began);
    return state();
  };
  const began = Date.now();
  await note("initialize", async () => {
    await client.initialize(board.bootMs);
    const { firmware, version, chipFamily, name } = client.info!;
    return `${state()}, ${firmware} ${version} on ${chipFamily}, ${name}`;
  });
  const firstMs = Date.now() - began;
  await note("state", ask);
  await note("host name", () => client.getHostname());
  if (air) {
    await note("networks", async () =>
      (await client.scan()).map(({ name, rssi, secured }) => `${name} ${rssi} ${secured}`).join("; "),
    );
    await note("wrong Wi-Fi", () => client.provision(...air.wrong, board.checkMs));
    await note("state", ask);
  }
  await note("Wi-Fi", async () => {
    await client.provision(...wifi, board.checkMs);
    return state();
  });
  await board.running();
  await note("state", ask);
  await note("another Wi-Fi", () => client.provision("another", "password", board.checkMs));
  await note("state", ask);
  await client.close();
  return { lines, firstMs, slowestMs };
}

/** What it has to show. */
export function expectedOf({ about, place, air }: Omit<Visited, "client" | "running">): string[] {
  const [ready, provisioned] = ["2, no address", `4, ${place}`];
  return [
    `initialize: ${ready}, ${about}`,
    `state: ${ready}`,
    "host name: UNKNOWN_RPC_COMMAND",
    ...(air ? [`networks: ${air.near}`, "wrong Wi-Fi: UNABLE_TO_CONNECT", `state: ${ready}`] : []),
    `Wi-Fi: ${provisioned}`,
    `state: ${provisioned}`,
    "another Wi-Fi: UNKNOWN_ERROR",
    `state: ${provisioned}`,
  ];
}
