// A board whose image can renew whom it trusts: what reaches the native TLS, through starts and through commissioning's authorities.
import test, { type ExecutionContext } from "ava";
import { renewTrust } from "../../../extras/trust/trust.js";
import type { Machine } from "../../../hosts/esp32/board-hardware.js";
import { trusting } from "../../../hosts/esp32/commissioning/commissioning.js";
import { createHost } from "../../../hosts/esp32/host.js";
import { startBoard } from "../../../hosts/esp32/start.js";
import type { Agent } from "../../../src/index.js";
import { signImage } from "../../../tools/cli/commands/sign.js";
import { announce, idOf, piecesOf } from "../../../tools/cli/commands/trust/announce.js";
import { der, newKey } from "../../extras/trust/world.js";
import { Authorities } from "../../extras/trust/x509/authority.js";
import { changes } from "../../extras/trust/x509/changes.js";
import { FakePlatform, KEY, SECRET } from "../../fakes/platform.js";
import { FakeBoard } from "./board.js";

const made = new Authorities();
const { first, second } = changes(made);
const [old, next] = [der(first), der(second)];
test.after.always(() => made.remove());

const key = newKey();
const MINUTE = 60_000;
const CONFIG = {
  baseUrl: "https://platform.test",
  wifi: { ssid: "home", password: "correct horse" },
  provisioning: { key: KEY, secret: SECRET },
  firmware: { title: "lamp", version: "1.0.0", publicKey: signImage(key, new Uint8Array()).publicKey },
};
const IMAGES_OWN = new Uint8Array(0);
const names = (list: readonly Uint8Array[]): string[] =>
  list.map((one) => (one.length === 0 ? "the image's own" : idOf(one) === idOf(old) ? "old" : "next"));

class Rig {
  readonly board = new FakeBoard(CONFIG);
  readonly platform = new FakePlatform(this.board.clock, this.board.net);
  /** Who vouches for the server now. */
  server: Uint8Array = old;
  /** Whom TLS was given, at each connection. */
  readonly asked: string[][] = [];
  authorities: readonly Uint8Array[];
  agent: Agent | undefined;

  constructor(t: ExecutionContext, authorities: readonly Uint8Array[]) {
    this.authorities = authorities;
    this.board.time = Date.now() / 1000;
    this.board.onRadio = (radio) => {
      radio.onConnect = () =>
        void this.board.clock.timer(500, () => radio.connection === 300 && radio.become(500));
    };
    t.teardown(() => this.stop());
  }

  async stop(): Promise<void> {
    const stopped = this.agent?.stop();
    await this.board.clock.advance(3000);
    await stopped;
  }

  machine(): Machine {
    const machine = this.board.boot();
    const { authorities, board } = this;
    const open = (list: readonly Uint8Array[]): Machine["open"] => {
      return (name, port, secure, event) => {
        const trusted = list.length > 0 ? list : [IMAGES_OWN];
        this.asked.push(names(trusted));
        if (trusted.some((one) => names([one])[0] === names([this.server])[0]))
          return machine.open(name, port, secure, event);
        board.clock.timer(1, () => event("closed", "certificate: unknown issuer"));
        return { write: () => 0, read: () => 0, close: () => {} };
      };
    };
    return { ...machine, open: open(authorities), trusting: open, authorities, renewTrust };
  }

  async start(): Promise<void> {
    await this.stop();
    this.asked.length = 0;
    this.agent = startBoard(this.machine(), () => {});
    await this.board.clock.advance(MINUTE);
  }

  async push(certificates: Uint8Array[], drop: string[] = []): Promise<void> {
    const device = this.platform.device("mote-240ac4000102");
    const { moteTrust } = this.platform.attributes(device, "SHARED_SCOPE");
    const made = announce(moteTrust, { product: "lamp", certificates, drop }, key, this.board.clock.wall());
    this.platform.setShared(device, piecesOf(made, certificates));
    this.platform.setShared(device, { moteTrust: made });
    await this.board.clock.advance(MINUTE);
  }
}

test("one that was built in is joined by another, and dropped when that one serves", async (t) => {
  const rig = new Rig(t, [old]);
  await rig.start();
  t.is(rig.agent?.state, "online");
  t.deepEqual(rig.asked[0], ["old"]);
  await rig.push([next]);
  await rig.start();
  t.deepEqual(rig.asked[0], ["old", "next"]);
  rig.server = next;
  await rig.start();
  t.is(rig.agent?.state, "online");
  await rig.push([], ["old"]);
  await rig.start();
  t.deepEqual(rig.asked[0], ["next"]);
  t.is(rig.agent?.state, "online");
  rig.server = old;
  await rig.start();
  t.is(rig.agent?.state, "offline");
});

test("the image's own are one of no bytes beside others, and can be dropped like one", async (t) => {
  const rig = new Rig(t, []);
  rig.server = IMAGES_OWN;
  await rig.start();
  await rig.push([next]);
  await rig.start();
  t.deepEqual(rig.asked[0], ["the image's own", "next"]);
  rig.server = next;
  await rig.push([], ["built-in"]);
  await rig.start();
  t.deepEqual([rig.asked[0], rig.agent?.state], [["next"], "online"]);
});

test("what its owner gave comes with what was added to it; another given by the owner comes alone", async (t) => {
  const rig = new Rig(t, []);
  const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
  const hostOf = (ca: string) => {
    const machine = rig.machine();
    return { host: trusting(machine, createHost(machine), ca), machine };
  };
  const connect = (ca: string): string[] | undefined => {
    hostOf(ca).host.open("platform.test", 443, true, () => {});
    return rig.asked.at(-1);
  };
  t.deepEqual(connect(base64(old)), ["old"]);
  t.deepEqual(connect("no certificate"), ["the image's own"]);
  t.deepEqual(connect(`${made.adopt(second.cert, second.key).cert}`), ["next"]);
});

test("an image without it trusts whom it did, and reads nothing of what was kept", async (t) => {
  const rig = new Rig(t, [old]);
  await rig.start();
  await rig.push([next]);
  const { renewTrust: _, ...machine } = rig.machine();
  await rig.stop();
  rig.asked.length = 0;
  rig.agent = startBoard(machine, () => {});
  await rig.board.clock.advance(MINUTE);
  t.deepEqual([rig.asked[0], rig.agent?.state], [["old"], "online"]);
});
