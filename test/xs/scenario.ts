// The tour's steps, seen from the platform's side, with a device that runs on XS: agent, application and updates.
import type { ExecutionContext } from "ava";
import { Operator } from "../../tools/operator/operator.js";
import { startPlatform } from "../../tools/platform/server.js";
import { CUSTOMER, TENANT } from "../../tools/tour/hints.js";
import { STEPS } from "../../tools/tour/steps/index.js";
import { runSteps } from "../../tools/tour/tour.js";
import { buildImage, XsDevice } from "./engine/device.js";
import { testOnXs } from "./engine/on-xs.js";

const INTERVAL_MS = 600;
const LIMIT_MS = 30_000;

async function loggedIn(url: string, who: { username: string; password: string }): Promise<Operator> {
  const operator = new Operator({ url });
  await operator.login(who.username, who.password);
  return operator;
}

/** Steps of what the lean build leaves out. */
const LEFT_OUT = /^(?:client-side RPC|claiming|firmware|the new firmware)/;

async function tour(t: ExecutionContext, lean = false): Promise<void> {
  const platform = await startPlatform({ port: 0, ruleChain: true });
  const { url } = platform;
  const deviceName = "on-xs";
  const options = { baseUrl: url, provisioning: { ...platform.profile, deviceName } };
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
  const steps = tried.map((step) => ({ ...step, limitMs: LIMIT_MS }));
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

export const tourOnXs = (): void =>
  testOnXs("every step of the tour passes with the device on XS", (t) => tour(t), "together");

export const leanTourOnXs = (): void =>
  testOnXs(
    "lean: every step of the tour passes on XS but those of what is left out",
    (t) => tour(t, true),
    "together",
  );
