// A project of `mote new` in the simulator: its updates end, and its files are its own.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { newProject } from "../../../tools/cli/commands/new/new.js";
import { findSimulator } from "../../../tools/moddable/sdk.js";
import { runProject } from "../../../tools/moddable/simulator/project.js";
import { Operator } from "../../../tools/operator/operator.js";
import { startPlatform } from "../../../tools/platform/server.js";
import { TENANT } from "../../../tools/tour/hints.js";
import { scratch } from "../../tools/scratch.js";
import { until } from "../../tools/until.js";
import { inSimulator } from "./rig.js";

const BUILD_MS = 300_000;
const UPDATE_MS = 120_000;
const NAME = "greenhouse-1";
const IMAGE = `{"simulator":1,"title":"greenhouse","version":"1.0.1"}\n`;

inSimulator("an update of a project is confirmed, and one that cannot start is rolled back", async (t) => {
  t.timeout(900_000);
  const folder = join(scratch(), "greenhouse");
  newProject(folder, "minimal");
  const stateDir = scratch();
  const platform = await startPlatform({ port: 0, ruleChain: true });
  t.teardown(() => platform.close());
  const operator = new Operator({ url: platform.url });
  await operator.login(TENANT.username, TENANT.password);
  const { key, secret } = platform.profile;
  const flags = { url: platform.url, provisionKey: key, provisionSecret: secret, deviceName: NAME };
  const stop = new AbortController();
  const ended = runProject(
    findSimulator(),
    folder,
    stateDir,
    { ...flags, headless: true },
    stop.signal,
    900_000,
  );
  t.teardown(async () => {
    stop.abort(new Error("the test is over"));
    await ended;
  });
  const device = await until(() => operator.devices.byName(NAME), { ms: BUILD_MS });
  const id = device.id.id;
  const { deviceProfileId } = await operator.devices.get(id);
  const isAt = async (version: string, state: string): Promise<boolean> => {
    const latest = await operator.timeSeries.latest(id, ["fw_state", "current_fw_version"]);
    return latest.current_fw_version?.value === version && latest.fw_state?.value === state;
  };
  const assign = async (version: string, image: Buffer): Promise<void> => {
    const entry = { title: "greenhouse", version, deviceProfileId: deviceProfileId!.id };
    const made = await operator.ota.create(entry);
    await operator.ota.upload(made.id.id, image, { fileName: `greenhouse-${version}.bin` });
    await operator.ota.assign(id, made.id.id);
  };
  await assign("1.0.1", Buffer.from(IMAGE.padEnd(9000, ".")));
  await until(() => isAt("1.0.1", "UPDATED"), { ms: UPDATE_MS });
  await assign("1.0.2", Buffer.alloc(9000, 7));
  await until(() => isAt("1.0.1", "FAILED"), { ms: UPDATE_MS });
  t.true(existsSync(join(stateDir, "mote-simulator", "greenhouse", "boot.json")));
});
