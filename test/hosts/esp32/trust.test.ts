// A board whose image can renew the CAs that it trusts: what reaches the native TLS at each start.
import test, { type ExecutionContext } from "ava";
import { renewTrust } from "../../../extras/trust/trust.js";
import type { BoardHardware } from "../../../hosts/esp32/board-hardware.js";
import { trusting } from "../../../hosts/esp32/commissioning/commissioning.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, idOf, piecesOf } from "../../../tools/cli/commands/trust/announce.js";
import { newKey } from "../../extras/trust/world.js";
import { Authorities, der } from "../../extras/trust/x509/authority.js";
import { changes } from "../../extras/trust/x509/changes.js";
import { plain, READY, rig, silent } from "./rig.js";

const made = new Authorities();
const { first, second } = changes(made);
const [old, next] = [der(first), der(second)];
test.after.always(() => made.remove());

const key = newKey();
const MINUTE = 60_000;
const { publicKey } = signImage(key, new Uint8Array());
const CONFIG = {
  ...READY,
  baseUrl: "https://platform.test",
  firmware: { title: "lamp", version: "1.0.0", publicKey },
};
const IMAGES_OWN = new Uint8Array(0);
const nameOf = (one: Uint8Array): string =>
  one.length === 0 ? "the image's own" : idOf(one) === idOf(old) ? "old" : "next";

/** `start`: the CAs of the first connection, and the agent's state a minute later. */
function trusted(t: ExecutionContext, authorities: readonly Uint8Array[], serves = old) {
  const { board, platform, device } = rig(t, CONFIG, plain);
  const all = { server: serves, asked: [] as string[][] };
  board.time = Date.now() / 1000;
  let agent: Agent | undefined;
  const machine = (renews = true): BoardHardware => {
    const made = board.boot();
    const open = (list: readonly Uint8Array[]): BoardHardware["open"] => {
      return (name, port, secure, event) => {
        const names = (list.length > 0 ? list : [IMAGES_OWN]).map(nameOf);
        all.asked.push(names);
        if (names.includes(nameOf(all.server))) return made.open(name, port, secure, event);
        board.clock.timer(1, () => event("closed", "certificate: unknown issuer"));
        return { write: () => 0, read: () => 0, close: () => {} };
      };
    };
    return { ...made, open: open(authorities), trusting: open, authorities, ...(renews && { renewTrust }) };
  };
  const stop = async (): Promise<void> => {
    await Promise.all([agent?.stop(), board.clock.advance(3000)]);
  };
  t.teardown(stop);
  const start = async (renews = true) => {
    await stop();
    all.asked.length = 0;
    agent = startBoard(machine(renews), silent);
    await board.clock.advance(MINUTE);
    return [all.asked[0], agent?.state];
  };
  const push = async (certificates: Uint8Array[], drop: string[] = []): Promise<void> => {
    const { moteTrust } = platform.attributes(device(), "SHARED_SCOPE");
    const made = announce(moteTrust, { product: "lamp", certificates, drop }, key, board.clock.wall());
    platform.setShared(device(), piecesOf(made, certificates));
    platform.setShared(device(), { moteTrust: made });
    await board.clock.advance(MINUTE);
  };
  return { all, machine, start, push };
}

test("a CA that was built in is joined by another, and dropped when that one serves", async (t) => {
  const { all, start, push } = trusted(t, [old]);
  t.deepEqual(await start(), [["old"], "online"]);
  await push([next]);
  t.deepEqual(await start(), [["old", "next"], "online"]);
  t.deepEqual(await start(false), [["old"], "online"], "an image without it reads nothing of that");
  all.server = next;
  await start();
  await push([], ["old"]);
  t.deepEqual(await start(), [["next"], "online"]);
  all.server = old;
  t.deepEqual(await start(), [["next"], "offline"]);
});

test("the image's own CAs are one of no bytes beside others, and can be dropped", async (t) => {
  const { all, start, push } = trusted(t, [], IMAGES_OWN);
  await start();
  await push([next]);
  t.deepEqual(await start(), [["the image's own", "next"], "online"]);
  all.server = next;
  await push([], ["built-in"]);
  t.deepEqual(await start(), [["next"], "online"]);
});

test("a CA that the owner entered comes alone", async (t) => {
  const { all, machine } = trusted(t, []);
  const connect = (ca: string): string[] | undefined => {
    const made = machine();
    trusting(made, createHost(made), ca).open("platform.test", 443, true, () => {});
    return all.asked.at(-1);
  };
  t.deepEqual(connect(Buffer.from(old).toString("base64")), ["old"]);
  t.deepEqual(connect("no certificate"), ["the image's own"]);
  t.deepEqual(connect(second.cert), ["next"]);
});
