import { accepted } from "../requests.js";
import { until } from "../tour.js";
import { ask, check, deviceId, requestsSince, since, step } from "./context.js";

export const provisioned = step("provisioned by itself", async (tour, signal) => {
  const device = await until(signal, () => tour.operator.devices.byName(tour.deviceName), 50);
  const took = since(tour.startedAt);
  const asked = (await requestsSince(tour, 0)).filter((entry) => accepted(entry, "POST", /^provision$/));
  check(asked.length === 1, `${asked.length} provisioning requests`);
  return `${device.name}, ${took}`;
});

export const tokenKept = step(
  "token kept and used again after a restart",
  async (tour, signal) => {
    const id = await deviceId(tour);
    const before = (await tour.operator.devices.credentials(id)).credentialsId;
    await tour.agent.stop();
    const stoppedAt = Date.now();
    tour.agent.start("device");
    const used = await until(signal, async () =>
      (await requestsSince(tour, stoppedAt)).find((entry) => accepted(entry, "POST", /^\*\*\*\/telemetry$/)),
    );
    const took = `${used.ts - stoppedAt} ms`;
    await ask(tour, "getStatus", null);
    const after = (await tour.operator.devices.credentials(id)).credentialsId;
    check(before === after, "the platform holds another token now");
    const all = await requestsSince(tour, 0);
    const asked = all.filter((entry) => entry.path.startsWith("/api/v1/provision"));
    check(asked.length === 1, `${asked.length} provisioning requests`);
    const unknown = all.filter((entry) => entry.status === 401);
    check(unknown.length === 0, `${unknown.length} requests with a wrong token`);
    return `2 starts, 1 provisioning, back after ${took}`;
  },
  15_000,
);
