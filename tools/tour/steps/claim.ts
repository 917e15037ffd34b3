import { randomBytes } from "node:crypto";
import { accepted } from "../requests.js";
import { until } from "../tour.js";
import { ask, check, deviceId, requestsSince, since, step } from "./context.js";

const DURATION_MS = 60_000;
// Both steps need it; it is worth nothing after the tour.
const secretKey = randomBytes(8).toString("hex");

export const claimStarted = step("claiming started", async (tour, signal) => {
  const from = Date.now();
  await ask(tour, "claim", { secretKey, durationMs: DURATION_MS });
  await until(signal, async () =>
    (await requestsSince(tour, from)).find((entry) => accepted(entry, "POST", /^\*\*\*\/claim$/)),
  );
  return `${since(from)}, open for ${DURATION_MS / 1000} s`;
});

export const claimCompleted = step("claiming completed by the customer", async (tour) => {
  const from = Date.now();
  const { customerId } = await tour.customer.user();
  check(customerId?.id !== undefined, "the customer's login has no customer");
  await tour.customer.devices.claim(tour.deviceName, secretKey);
  const device = await tour.operator.devices.get(await deviceId(tour));
  check(device.customerId?.id === customerId.id, "the device is not the customer's");
  return since(from);
});
