// The tour's steps, seen from the platform's side, with a device that runs on XS: agent, application and updates.
import type { ExecutionContext } from "ava";
import { Operator } from "../../tools/operator/operator.js";
import { startPlatform } from "../../tools/platform/server.js";
import { CUSTOMER, TENANT } from "../../tools/tour/hints.js";
import type { Tour, TourStep } from "../../tools/tour/steps/context.js";
import { STEPS } from "../../tools/tour/steps/index.js";
import { runSteps } from "../../tools/tour/tour.js";
import { buildImage, XsDevice } from "./engine/device.js";
import { testOnXs } from "./engine/on-xs.js";

const INTERVAL_MS = 600;
const LIMIT_MS = 30_000;
const NUDGE_MS = 250;

type Connections = 1 | 2 | 3;

/** With two connections changes are read at the end of an RPC poll: an operator in a hurry sends an RPC. */
const READ_AT_POLLS = /^shared attribute|^firmware (?!2.0.0 uploaded)/;

function nudgeFor(
  step: TourStep,
  connections: Connections,
): ((tour: Tour, id: string) => Promise<unknown>) | undefined {
  if (connections === 3) return undefined;
  if (connections === 2 && !READ_AT_POLLS.test(step.title)) return undefined;
  // With one connection a one-way RPC between two polls is lost by the platform: it is sent again.
  if (step.title.startsWith("one-way"))
    return (tour, id) => tour.operator.rpc.oneWay(id, "setLed", { on: false });
  return (tour, id) => tour.operator.rpc.twoWay(id, "getStatus", null, { timeoutMs: 5000 });
}

/** The step, while RPCs end the poll again and again: with fewer than three connections the rest waits for that. */
function nudged(step: TourStep, connections: Connections): TourStep {
  const nudge = nudgeFor(step, connections);
  const limitMs = LIMIT_MS;
  if (!nudge) return { ...step, limitMs };
  const run: TourStep["run"] = async (tour, signal) => {
    let over = false;
    const again = async (): Promise<void> => {
      while (!over && !signal.aborted) {
        const device = await tour.operator.devices.byName(tour.deviceName);
        // An RPC that comes to nothing, as while the device restarts, is of no interest: the step says what is.
        if (device && !over) await nudge(tour, device.id.id).catch(() => {});
        await new Promise((resolve) => setTimeout(resolve, NUDGE_MS));
      }
    };
    again().catch(() => {});
    try {
      return await step.run(tour, signal);
    } finally {
      over = true;
    }
  };
  return { title: step.title, limitMs, run };
}

async function loggedIn(url: string, who: { username: string; password: string }): Promise<Operator> {
  const operator = new Operator({ url });
  await operator.login(who.username, who.password);
  return operator;
}

/** Steps of what the lean build leaves out. */
const LEFT_OUT = /^(?:client-side RPC|claiming|firmware|the new firmware)/;

async function tour(t: ExecutionContext, connections: Connections, lean = false): Promise<void> {
  const platform = await startPlatform({ port: 0, ruleChain: true });
  const { url } = platform;
  const deviceName = "on-xs";
  const options = { baseUrl: url, provisioning: { ...platform.profile, deviceName }, connections };
  const device = new XsDevice(await buildImage("1.0.0", lean), INTERVAL_MS, options);
  t.teardown(async () => {
    await device.remove();
    await platform.close();
  });
  const nextImage = device.put("2.0.0", await buildImage("2.0.0"));
  const [operator, customer] = [await loggedIn(url, TENANT), await loggedIn(url, CUSTOMER)];
  const startedAt = Date.now();
  device.start("platform");
  const context = {
    url,
    deviceName,
    intervalMs: INTERVAL_MS,
    operator,
    customer,
    agent: device,
    startedAt,
    nextImage,
  };
  const tried = STEPS.filter(({ title }) => !lean || !LEFT_OUT.test(title));
  const steps = tried.map((step) => nudged(step, connections));
  const results = await runSteps(steps, context, device.died, () => {});
  await device.stop();
  const failed = results.filter(({ ok }) => !ok);
  if (failed.length > 0) t.log(device.lines.join("\n"));
  t.deepEqual(failed, []);
  t.is(results.length, steps.length);
  t.deepEqual(device.starts, ["a confirmed", "a confirmed", ...(lean ? [] : ["b pending"])]);
  t.deepEqual(device.failures, []);
  t.deepEqual(
    device.lines.filter((line) => line.startsWith("error")),
    [],
  );
}

/** Every step of the tour, with so many connections. */
export function tourOnXs(connections: Connections): void {
  const title = `${connections} connection${connections > 1 ? "s" : ""}: every step of the tour passes with the device on XS`;
  testOnXs(title, (t) => tour(t, connections), "together");
}

export const leanTourOnXs = (): void =>
  testOnXs(
    "lean: every step of the tour passes on XS but those of what is left out",
    (t) => tour(t, 2, true),
    "together",
  );
