import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { until } from "../tour.js";
import { ask, check, deviceId, group, since, step, type Tour, type TourStep } from "./context.js";

const VERSION = "2.0.0";
const LIMIT_MS = 20_000;

export const uploaded = step("firmware 2.0.0 uploaded", async (tour) => {
  const bytes = await readFile(tour.nextImage);
  const { deviceProfileId } = await tour.operator.devices.get(await deviceId(tour));
  check(deviceProfileId !== undefined, "the device has no profile");
  const entry = { title: "sample", version: VERSION, deviceProfileId: deviceProfileId.id };
  const { id } = await tour.operator.ota.create(entry);
  const stored = await tour.operator.ota.upload(id.id, bytes, { fileName: "sample-2.0.0.mjs" });
  const checksum = createHash("sha256").update(bytes).digest("hex");
  check(stored.checksum === checksum, "the platform computed another checksum");
  return `${group(bytes.length)} bytes, SHA256 ${checksum.slice(0, 8)}…`;
});

export const downloaded = step(
  "firmware 2.0.0 assigned and downloaded",
  async (tour, signal) => {
    const from = Date.now();
    const entries = (await tour.operator.ota.list()).data;
    const entry = entries.find(({ title, version }) => title === "sample" && version === VERSION);
    check(entry !== undefined, "there is no such package");
    await tour.operator.ota.assign(await deviceId(tour), entry.id.id);
    await reported(tour, signal, "DOWNLOADED");
    return since(from);
  },
  LIMIT_MS,
);

export const verified = state("firmware verified", "VERIFIED");
export const activated = state("firmware activated", "UPDATING");

export const confirmed = step(
  "firmware confirmed after the restart",
  async (tour, signal) => {
    const from = Date.now();
    const activatedAt = await reported(tour, signal, "UPDATING");
    await reported(tour, signal, "UPDATED", activatedAt);
    const id = await deviceId(tour);
    const running = await until(signal, async () => {
      const { current_fw_version: reading } = await tour.operator.timeSeries.latest(id, [
        "current_fw_version",
      ]);
      return reading?.value === VERSION && reading;
    });
    check(running.ts >= activatedAt, "the report is from before the restart");
    return `current_fw_version ${VERSION}, ${since(from)}`;
  },
  LIMIT_MS,
);

export const newApp = step("the new firmware's points and answers", async (tour, signal) => {
  const from = Date.now();
  const id = await deviceId(tour);
  const reading = await until(
    signal,
    async () => (await tour.operator.timeSeries.latest(id, ["pressure"])).pressure,
  );
  const answer = await ask(tour, "setLed", { on: true });
  check(answer.colour === "blue", "the LED is not blue");
  return `pressure ${String(reading.value)} hPa, LED blue, ${since(from)}`;
});

function state(title: string, name: string): TourStep {
  const run: TourStep["run"] = async (tour, signal) => {
    const from = Date.now();
    await reported(tour, signal, name);
    return `fw_state ${name}, ${since(from)}`;
  };
  return step(title, run, LIMIT_MS);
}

/** Waits for a `fw_state` in the time series that is not before `from`; returns its time stamp. */
async function reported(
  tour: Tour,
  signal: AbortSignal,
  name: string,
  from = tour.startedAt,
): Promise<number> {
  const id = await deviceId(tour);
  const read = async (): Promise<number | undefined> => {
    const range = { keys: ["fw_state", "fw_error"], startTs: tour.startedAt, endTs: Date.now() + 60_000 };
    const found = await tour.operator.timeSeries.range(id, range);
    const states = found.fw_state ?? [];
    if (states.some(({ value }) => value === "FAILED"))
      throw new Error(`FAILED: ${String(found.fw_error?.[0]?.value)}`);
    return states.find(({ ts, value }) => value === name && ts >= from)?.ts;
  };
  return until(signal, read);
}
