// A rollout to a thousand whole agents, of an image that fails its self test: how many of them ever
// start it.
import test from "ava";
import { Agent } from "../../../../src/index.js";
import type { FakeClock } from "../../../fakes/clock.js";
import { FakeSlot } from "../../../fakes/flash.js";
import { FakeStore, fakeHost } from "../../../fakes/host.js";
import { FakeNet } from "../../../fakes/net.js";
import { FakePlatform } from "../../../fakes/platform.js";
import { startRig } from "./rig.js";

const DEVICES = 1000;

/** A device with two slots: what is activated is tried, and what was reverted is left. */
class Pump {
  agent!: Agent;
  version = "1.0.0";
  /** Of the new image. */
  starts = 0;
  readonly #name: string;
  readonly #seed: number;
  readonly #clock: FakeClock;
  readonly #network: FakeNet;
  readonly #store = new FakeStore();
  readonly #slot = new FakeSlot(4 * 4096, 4096);

  constructor(clock: FakeClock, network: FakeNet, seed: number, name: string) {
    [this.#clock, this.#network, this.#seed, this.#name] = [clock, network, seed, name];
  }

  start(): void {
    const { version } = this;
    if (version === "2.0.0") this.starts++;
    const shared = { clock: this.#clock, network: this.#network, store: this.#store, slot: this.#slot };
    const host = fakeHost({ ...shared, seed: this.#seed * 10 + this.starts });
    host.restart = () => void this.#clock.timer(0, () => void this.#restart());
    const selfTest = (): boolean => this.version === "1.0.0";
    this.agent = new Agent(host, {
      ...{ baseUrl: "https://platform.test", token: `${this.#name}-token`, connections: 2 },
      firmware: { title: "pump", version, selfTest },
    });
    this.agent.start();
  }

  async #restart(): Promise<void> {
    const old = this.agent;
    const isTrial = this.#slot.activated !== undefined && !this.#slot.reverted;
    this.version = isTrial ? "2.0.0" : "1.0.0";
    this.#slot.current = isTrial ? "pending" : "confirmed";
    this.#slot.activated = undefined;
    this.#slot.reverted = false;
    await old.stop();
    this.start();
  }
}

test("names the one of 1,000 agents whose image fails its self-test, with the reason", async (t) => {
  const rig = await startRig(t);
  const { clock, platform, profile } = rig;
  const network = new FakeNet(clock);
  new FakePlatform(clock, network, platform.core);
  const pumps: Pump[] = [];
  for (let n = 0; n < DEVICES; n++) {
    const name = `pump-${n}`;
    platform.core.createDevice({ name, profileId: profile.id.id }, `${name}-token`);
    const pump = new Pump(clock, network, n + 1, name);
    pumps.push(pump);
    clock.timer(n * 25, () => pump.start());
  }
  await clock.advance(60_000);
  const outcome = await rig.run();
  const [first] = (await rig.rollout()).members.all;
  const why = "rolled back: self-test failed";
  const devices = [{ device: first?.name, why, state: "FAILED" }];
  t.like(outcome, { end: "failed", stage: 1, assigned: 1, all: DEVICES, passed: 0 });
  t.deepEqual(outcome.end === "failed" && outcome.devices, devices as never);
  await clock.advance(5 * 60_000);
  t.like(await rig.run(), { end: "failed", assigned: 1 });
  t.is(
    pumps.reduce((starts, pump) => starts + pump.starts, 0),
    1,
  );
  t.true(pumps.every(({ version }) => version === "1.0.0"));
  const stopped = Promise.all(pumps.map(({ agent }) => agent.stop()));
  await clock.advance(0);
  await stopped;
});
