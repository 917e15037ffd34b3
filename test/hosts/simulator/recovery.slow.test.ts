// An application that crashes again and again in the simulator: the next start learns it, and the device stays within reach.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import test, { type ExecutionContext } from "ava";
import type { LastRun } from "../../../src/index.js";
import { SimulatedDevice, simulatedImage } from "../../../tools/moddable/simulator/device.js";
import { assign, idOf, openBench, until, updated } from "./bench.js";
import { inSimulator, programOf } from "./rig.js";

const STUB = fileURLToPath(new URL("./stub-program.js", import.meta.url));
const POWER = { reset: "start", crash: false, interrupted: true, powered: true };

/** A device whose runs end by these words of the program, one after the other; the run after them goes on. */
function stubbed(t: ExecutionContext, ends: readonly string[]) {
  const stateDir = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  writeFileSync(join(stateDir, "ends.json"), JSON.stringify(ends));
  const lastRuns: LastRun[] = [];
  const images = new Set<string>();
  const device = new SimulatedDevice(
    {
      ...{ sdk: { path: "", mcconfig: "", mcsim: process.execPath, env: process.env }, program: STUB },
      ...{ stateDir, display: "", intervalMs: 1000, crashMs: 0, agent: { baseUrl: "http://none" } },
      line: () => {},
      event(event) {
        if (event.event !== "lastRun") return;
        images.add(String(event.image));
        lastRuns.push(event.lastRun as LastRun);
      },
    },
    simulatedImage("sample", "1.0.0", 100),
  );
  t.teardown(async () => {
    await device.cut();
    rmSync(stateDir, { recursive: true, force: true });
  });
  return { device, lastRuns, images };
}

test("each start learns how the run before ended: by power, by a crash with its reason, by a restart", async (t) => {
  const ends = ["XS abort: memory full", "@crash TypeError: no sensor", "@restart", "something else"];
  const { device, lastRuns, images } = stubbed(t, ends);
  void device.start();
  await until("five starts", 20_000, () => lastRuns.length === 5 || undefined);
  await device.cut();
  t.deepEqual(lastRuns.slice(0, 4), [
    POWER,
    { reset: "crash", crash: "memory full" },
    { reset: "crash", crash: "TypeError: no sensor" },
    { reset: "restart", crash: false },
  ]);
  t.truthy(lastRuns[4]?.crash);
  t.is(images.size, 1);
  void device.start();
  await until("a start by power", 20_000, () => lastRuns.length === 6 || undefined);
  t.deepEqual(lastRuns[5], POWER);
});

inSimulator(
  "five crashes leave the application out, the cause is reported, and the update that mends it arrives",
  async (t) => {
    const bench = await openBench(t, await programOf("test/hosts/simulator/crashes"));
    const { device, events, operator } = bench;
    void device.start();
    const { cause } = await until("recovery mode", 120_000, () =>
      events.find(({ event }) => event === "recovery"),
    );
    t.is(cause, "unhandled exception");
    t.is(events.filter(({ event }) => event === "crash").length, 5);
    const id = await idOf(operator);
    const published = await until("the cause on the platform", 30_000, async () => {
      const found = await operator.attributes.get(id, "CLIENT_SCOPE", ["moteRecovery"]);
      return found.moteRecovery;
    });
    t.is(published, cause);
    await assign(operator, id, 5000);
    await updated(bench, id, 120_000);
    t.is(events.filter(({ event }) => event === "crash").length, 5);
    t.is(events.filter(({ event }) => event === "recovery").length, 1);
  },
);
