import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runTour } from "../../../tools/tour/run-tour.js";
import { application, Bench, imageOf, ONLINE_MS } from "../bench.js";
import { type Case, check } from "../case.js";
import { DEVICE } from "../rig.js";

/** All steps; no step waits longer than its own limit, which is made for a computer. */
const TOUR_MS = 900_000;

/** The tour stops the device and starts it on its own time: a program of each kind, by cable. */
async function tour(secure: boolean, say: (line: string) => void): Promise<string> {
  const more = {
    connections: 3,
    firmware: { title: "sample", version: "1.0.0", allowHttp: true, trialMs: 5000 },
  };
  await using bench = await Bench.open(secure ? "tour-tls" : "tour", {
    timestamps: "platform",
    secure,
    more,
  });
  const later = await imageOf({ timestamps: "device", secure, more });
  const next = await imageOf({
    secure,
    more: { ...more, firmware: { ...more.firmware, version: "2.0.0" } },
  });
  const nextImage = join(tmpdir(), `mote-chip-${process.pid}.bin`);
  writeFileSync(nextImage, application(next));
  const agent = {
    lastStderrLine: "",
    start: (timestamps: "device" | "platform") => {
      if (timestamps === "device") bench.board.write(later);
      bench.board.on();
    },
    stop: () => bench.board.off(),
  };
  const lines: string[] = [];
  const shown = {
    url: bench.localPlatform.url,
    deviceName: DEVICE,
    intervalMs: 1000,
    agent,
    nextImage,
    patience: 6,
  };
  const good = await runTour(shown, AbortSignal.timeout(TOUR_MS + ONLINE_MS), (line) => {
    lines.push(line);
    say(line);
  });
  check(good, `steps failed:\n${lines.join("\n")}\n${bench.board.lines.slice(-30).join("\n")}`);
  return lines.at(-1) ?? "";
}

export const TOUR: Case = {
  name: "tour",
  title: "every step of the tour is seen with the agent on the chip, an update included",
  run: async ({ say }) => ({ result: await tour(false, say) }),
};

export const TOUR_TLS: Case = {
  name: "tour-tls",
  title: "every step of the tour is seen with the agent on the chip over TLS, an update included",
  run: async ({ say }) => ({ result: await tour(true, say) }),
};
