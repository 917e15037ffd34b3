// The CAs that a board trusts, and its token, while an update or the owner changes those CAs. A
// token belongs to an address, a scheme and the CAs that the owner entered; an image may bring
// others.
import test, { type ExecutionContext } from "ava";
import { storeSettings } from "../../../extras/commissioning/stored-settings.js";
import type { BoardHardware } from "../../../hosts/esp32/board-hardware.js";
import { commissionBy } from "../../../hosts/esp32/commissioning/configuration.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { Authorities, der, type Issued } from "../../x509/authority.js";
import { changes } from "../../x509/changes.js";
import { plain, READY, rig, silent } from "./rig.js";

const made = new Authorities();
const { first, second, stranger } = changes(made);
test.after.always(() => made.remove());

const MINUTE = 60_000;
const CONFIG = { ...READY, baseUrl: "https://platform.test" };
const ALL: readonly [Issued, string][] = [
  [first, "old"],
  [second, "new"],
  [stranger, "stranger"],
];
const nameOf = (one: Uint8Array): string =>
  ALL.find(([issued]) => Buffer.from(der(issued)).equals(one))?.[1] ?? "unknown";

/** The token that a request shows, in its path. */
const tokenOf = ({ path }: { path: string }): string | undefined =>
  /^\/api\/v1\/([^/]+)\/(?:attributes|telemetry|rpc)/.exec(path)?.[1];

/** A board and its server, which shows a certificate of `server`. */
function secured(t: ExecutionContext, config: Record<string, unknown>) {
  const all = rig(t, config, plain);
  const { board, platform } = all;
  const world = { server: first, asked: [] as string[] };
  board.time = Date.now() / 1000;
  let agent: Agent | undefined;
  t.teardown(() => Promise.all([agent?.stop(), board.clock.advance(3000)]));
  const machine = (builtIn: readonly Issued[]): BoardHardware => {
    const made = board.boot();
    const authorities = builtIn.map((one) => der(one));
    const opener = (list: readonly Uint8Array[]): BoardHardware["open"] => {
      return (name, port, secure, event) => {
        // Without a list the SDK's public CAs count, which vouch for nobody here.
        world.asked = list.length > 0 ? list.map(nameOf) : ["public"];
        if (world.asked.includes(nameOf(der(world.server)))) return made.open(name, port, secure, event);
        board.clock.timer(1, () => event("closed", "certificate: unknown issuer"));
        return { write: () => 0, read: () => 0, close: () => {} };
      };
    };
    return { ...made, open: opener(authorities), trusting: opener, authorities };
  };
  /** Starts an image with these CAs. The CAs that it asks with, and its state after a minute. */
  const runs = async (...builtIn: readonly Issued[]): Promise<[string[], string | undefined]> => {
    await Promise.all([agent?.stop(), board.clock.advance(3000)]);
    agent = startBoard(machine(builtIn), silent, {
      commission: (hardware, host, go) => commissionBy(board.modules, hardware, host, go),
    });
    await board.clock.advance(MINUTE);
    return [world.asked, agent?.state];
  };
  /** The owner enters settings with this CA, or without one, and a token. */
  const enters = async (ca: Issued | undefined, token: string | undefined): Promise<void> => {
    await Promise.all([agent?.stop(), board.clock.advance(3000)]);
    const { wifi, baseUrl: url } = CONFIG;
    storeSettings(createHost(machine([])), { ...wifi, url, ca: ca?.cert, token }, token === undefined);
  };
  return { world, runs, enters, platform };
}

test("a board keeps its token while updates replace the CA of its image", async (t) => {
  const { world, runs, platform } = secured(t, CONFIG);
  t.deepEqual(await runs(first), [["old"], "online"]);
  const tokens = () => new Set(platform.seen.map(tokenOf).filter(Boolean)).size;
  t.is(tokens(), 1);
  t.deepEqual(await runs(first, second), [["old", "new"], "online"]);
  world.server = second;
  t.deepEqual(await runs(first, second), [["old", "new"], "online"]);
  t.deepEqual(await runs(second), [["new"], "online"]);
  t.is(tokens(), 1, "it did not provision again");
  world.server = first;
  t.deepEqual(await runs(second), [["new"], "offline"]);
});

const { provisioning: _, ...BARE } = CONFIG;

test("the CA of an image counts beside one that the owner entered, and the token stays", async (t) => {
  const { world, runs, enters, platform } = secured(t, BARE);
  platform.create("lamp-7", "TOKEN-7");
  await enters(first, "TOKEN-7");
  t.deepEqual(await runs(), [["old"], "online"], "the SDK's public CAs do not count beside it");
  t.deepEqual(await runs(second), [["old", "new"], "online"]);
  world.server = second;
  t.deepEqual(await runs(second), [["old", "new"], "online"]);
  world.server = stranger;
  t.deepEqual(await runs(second), [["old", "new"], "offline"]);
});

test("a provisioned token is not used after the owner's CA was replaced", async (t) => {
  for (const [ca, isUsed] of [
    [first, true],
    [second, false],
    [stranger, false],
    [undefined, false],
  ] as const) {
    const { runs, enters, platform } = secured(t, CONFIG);
    await enters(first, undefined);
    await runs(first);
    const token = platform.seen.map(tokenOf).find(Boolean);
    t.truthy(token);
    platform.seen.length = 0;
    await enters(ca, undefined);
    // The image trusts the platform's CA all the time.
    await runs(first);
    t.true(platform.seen.length > 0);
    t.is(
      platform.seen.some((one) => tokenOf(one) === token),
      isUsed,
      ca ? nameOf(der(ca)) : "none",
    );
  }
});
