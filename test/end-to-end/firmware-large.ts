// A large image through real processes: the local platform hands it out, `mote run` takes it, and
// the worker's memory is published by its application.
import { latest, type Rig, type Teardown, until } from "./rig.js";
import { image, imageText, type Run, run } from "./run.js";

export const MIB = 1024 * 1024;

/**
 * Bytes after a collection (`live`: heap, external and array buffers; `rss`: the whole process),
 * and the share of the download done.
 */
export interface Memory {
  readonly live: number;
  readonly rss: number;
  readonly percent: number;
}

/**
 * The body of an application that collects garbage and publishes its memory four times a second.
 */
const PUBLISHES = `
  process.getBuiltinModule("node:v8").setFlagsFromString("--expose-gc");
  const gc = process.getBuiltinModule("node:vm").runInNewContext("gc");
  let percent = 0;
  agent.on("firmware", (detail) => { percent = detail.progress ?? percent; });
  setInterval(() => {
    gc();
    const { heapUsed, external, rss } = process.memoryUsage();
    console.log("memory " + JSON.stringify({ live: heapUsed + external, rss, percent }));
  }, 250);`;

/** An image of exactly `size` bytes. */
export function largeImage(rig: Rig, version: string, size: number, body = ""): Buffer {
  const text = imageText(rig, version, `setInterval(() => {}, 1000);\n${body}`);
  const bytes = Buffer.alloc(size, "/");
  bytes.write(text);
  return bytes;
}

/** Makes a package of `bytes` and assigns it to the device. */
export async function release(rig: Rig, version: string, bytes: Buffer): Promise<void> {
  const { operator, name, profileId } = rig;
  const { id } = await operator.ota.create({ title: name, version, deviceProfileId: profileId });
  await operator.ota.upload(id.id, bytes, { fileName: "large.mjs" });
  await operator.ota.assign(await rig.deviceId(), id.id);
}

export function memoryOf(device: Run): Memory[] {
  return device
    .seen("log")
    .map(({ line }) => String(line))
    .filter((line) => line.startsWith("memory "))
    .map((line) => JSON.parse(line.slice("memory ".length)));
}

/**
 * Updates a device to an image of `size` bytes; resolves with the memory of the process that took
 * it, before and while it came.
 */
export async function updateTo(
  t: Teardown,
  rig: Rig,
  connections: 1 | 2 | 3,
  size: number,
): Promise<{ memory: Memory[]; seconds: number }> {
  const device = run(t, rig, image(rig, "1.0.0", PUBLISHES), ["--connections", String(connections)]);
  const id = await rig.deviceId();
  await until(async () => memoryOf(device).length > 8, "the application published its memory");
  const from = Date.now();
  await release(rig, "2.0.0", largeImage(rig, "2.0.0", size));
  const done = async () => {
    const state = await latest(rig, id, "fw_state");
    if (state === "FAILED") throw new Error(String(await latest(rig, id, "fw_error")));
    return state === "UPDATED" && (await latest(rig, id, "current_fw_version")) === "2.0.0";
  };
  while (!(await done())) await new Promise((resolve) => setTimeout(resolve, 200));
  const seconds = (Date.now() - from) / 1000;
  await device.stop();
  return { memory: memoryOf(device), seconds };
}
