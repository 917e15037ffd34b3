// The whole agent with the sample application in the simulator.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { simulatedImage } from "../../../tools/moddable/simulator/device.js";
import { runTour } from "../../../tools/tour/run-tour.js";
import { assign, DEVICE, INTERVAL_MS, idOf, openBench, until, updated } from "./bench.js";
import { inSimulator, programOf } from "./rig.js";

const PROGRAM = "hosts/simulator/program";
const TOUR_MS = 240_000;

async function tour(t: ExecutionContext, secure: boolean): Promise<void> {
  const bench = await openBench(t, await programOf(PROGRAM), { secure });
  const directory = mkdtempSync(join(tmpdir(), "mote-simulator-"));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const nextImage = join(directory, "next.bin");
  writeFileSync(nextImage, simulatedImage("sample", "2.0.0", 40_000));
  const { device, platform, events, stateDir } = bench;
  const agent = {
    lastStderrLine: "",
    start: (timestamps: "device" | "platform") => device.start(timestamps),
    stop: () => device.stop(),
  };
  const shown = { url: platform.url, deviceName: DEVICE, intervalMs: INTERVAL_MS, agent, nextImage };
  const lines: string[] = [];
  const good = await runTour(shown, AbortSignal.timeout(TOUR_MS), (line) => lines.push(line));
  t.true(good, lines.join("\n"));
  t.deepEqual(
    events.filter(({ event }) => event === "crash"),
    [],
  );
  const { key, secret } = platform.profile;
  const { credentialsId: token } = platform.core.devices.byName(DEVICE)?.credentials ?? {};
  const kept = keptIn(stateDir);
  t.regex(kept, /online/);
  for (const one of [key, secret, token]) t.false(kept.includes(String(one)));
}

/** The bytes of the kept lines. */
function keptIn(stateDir: string): string {
  const [name = ""] = readdirSync(stateDir, { recursive: true, encoding: "utf8" }).filter((file) =>
    file.endsWith("log.bin"),
  );
  return readFileSync(join(stateDir, name), "latin1");
}

inSimulator("every step of the tour passes over HTTP", (t) => tour(t, false));
inSimulator("every step of the tour passes over HTTPS with a private authority", (t) => tour(t, true));

inSimulator("with a window it draws what goes on, and does the same", async (t) => {
  const { device, events, most } = await openBench(t, await programOf("hosts/simulator/window"));
  void device.start();
  await until("points, and frames", 60_000, () =>
    events.some(({ event }) => event === "telemetry.delivered") && (most.get("Frames drawn") ?? 0) > 0
      ? true
      : undefined,
  );
  t.deepEqual(
    events.filter(({ event }) => event === "crash"),
    [],
  );
});

inSimulator(
  "an update that is cut at ten points comes to its end, and no start lacks an image",
  async (t) => {
    const bench = await openBench(t, await programOf(PROGRAM));
    const { device, operator, events } = bench;
    void device.start();
    const id = await idOf(operator);
    await assign(operator, id, 300_000);
    for (let cut = 0; cut < 10; cut++) {
      const seen = events.length;
      await until(`firmware before cut ${cut}`, 60_000, () =>
        events.slice(seen).find(({ event }) => event === "firmware.state"),
      );
      await new Promise((resolve) => setTimeout(resolve, 170 * cut));
      await device.cut();
      void device.start();
    }
    await updated(bench, id, 120_000);
    const given = events.filter(({ event }) => event === "crash");
    t.deepEqual(given, []);
    const starts = events.filter(({ event }) => event === "started").map(({ version }) => version);
    t.is(starts.at(-1), "2.0.0");
    t.log(`${starts.length} starts`);
  },
);
