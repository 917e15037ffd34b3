import { readFile } from "node:fs/promises";
import { OperatorError } from "../operator/error.js";
import { Operator } from "../operator/operator.js";
import { CUSTOMER, TENANT } from "./hints.js";
import { images, type Setup } from "./setup.js";
import type { ShownAgent } from "./steps/context.js";
import { STEPS } from "./steps/index.js";
import { formatResult, runSteps } from "./tour.js";

const WIDTH = Math.max(...STEPS.map(({ title }) => title.length));

/** What the tour is shown on: this computer, or another machine. */
export interface TourTarget {
  readonly url: string;
  readonly deviceName: string;
  readonly intervalMs: number;
  /** `lastStderrLine`: the last of it, if it said any. */
  readonly agent: ShownAgent & { readonly lastStderrLine: string };
  /** Where the bytes of firmware 2.0.0 are. Default: those made with this package. */
  readonly nextImage?: string;
  /** How many times longer than on a computer a step may take. Default 1. */
  readonly patience?: number;
}

/** Shows each capability on a line. Resolves to true if all were seen. */
export async function runTour(
  target: TourTarget,
  signal: AbortSignal,
  print: (line: string) => void,
): Promise<boolean> {
  const { url, deviceName, intervalMs, agent, nextImage = images.next, patience = 1 } = target;
  const startedAt = Date.now();
  agent.start("platform");
  const operator = new Operator({ url });
  const customer = new Operator({ url });
  await operator.login(TENANT.username, TENANT.password);
  await customer.login(CUSTOMER.username, CUSTOMER.password);
  const tour = { url, deviceName, intervalMs, operator, customer, agent, startedAt, nextImage };
  const results = await runSteps(
    STEPS,
    tour,
    signal,
    (result) => print(formatResult(result, WIDTH)),
    patience,
  );
  const good = results.filter(({ ok }) => ok).length;
  print(`${good} of ${results.length} in ${((Date.now() - startedAt) / 1000).toFixed(1)} s`);
  if (good < results.length && agent.lastStderrLine !== "")
    print(`the agent's last line on stderr: ${agent.lastStderrLine}`);
  return good === results.length;
}

/** Uploads firmware 2.0.0, ready to be assigned; false as long as the device does not exist. */
export async function prepare(setup: Setup): Promise<boolean> {
  const operator = new Operator({ url: setup.url });
  await operator.login(TENANT.username, TENANT.password);
  const device = await operator.devices.byName(setup.deviceName);
  if (!device) return false;
  if (!device.deviceProfileId) throw new OperatorError(200, "the device has no profile");
  const entry = { title: "sample", version: "2.0.0", deviceProfileId: device.deviceProfileId.id };
  if (await operator.ota.find(entry.title, entry.version)) return true;
  const { id } = await operator.ota.create(entry);
  await operator.ota.upload(id.id, await readFile(images.next), { fileName: "sample-2.0.0.mjs" });
  return true;
}
