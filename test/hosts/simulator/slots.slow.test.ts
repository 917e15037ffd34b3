// What the modules of ours keep in RAM when they were imported and nothing was made yet: all else lies in ROM.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findSdk } from "../../../tools/moddable/sdk.js";
import { SimulatorRun } from "../../../tools/moddable/simulator/simulator.js";
import { inSimulator, programOf, screen } from "./rig.js";

const SLOT_IN_SIMULATOR = 32;
const MOST = 250;
const PATIENCE_MS = 60_000;

inSimulator("at the start, with everything preloaded, no more than 250 slots are in use", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  const program = await programOf("test/hosts/simulator/slots");
  let collected = false;
  let used: ((slots: number) => void) | undefined;
  const measured = new Promise<number>((resolve) => {
    used = resolve;
  });
  const run = await SimulatorRun.start({
    ...{ sdk: findSdk(), program, directory, display: await screen() },
    line(line) {
      if (line === "collected") collected = true;
    },
    instruments(values) {
      if (collected) used?.((values.get("Slot used") ?? 0) / SLOT_IN_SIMULATOR);
    },
  });
  t.teardown(async () => {
    await run.kill();
    rmSync(directory, { recursive: true, force: true });
  });
  const late = new Promise<number>((_, reject) => {
    setTimeout(() => reject(new Error("nothing was measured")), PATIENCE_MS).unref();
  });
  const slots = await Promise.race([measured, late]);
  t.log(`${slots} slots`);
  t.true(slots > 0 && slots <= MOST, `${slots} slots`);
});
