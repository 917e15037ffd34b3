// What an image costs on the XS engine: its steps for one KiB, everything included (requests, answers, the slot's sectors, the journal, reading back), digests aside,
// which are the host's. Of two sizes the difference counts, so that what happens once is not in it.
import { createHash } from "node:crypto";
import { type Still, standStill } from "../../test/xs/engine/still.js";

const SMALL = 64;
const LARGE = 192;
const KIB = 1024;

function assign({ platform, device }: Still, bytes: Buffer): void {
  const { core } = platform;
  const { profileId, name } = device;
  const fields = { type: "FIRMWARE", title: "bench", version: "2.0.0", profileId } as const;
  const target = core.packages.create({ ...fields, tag: undefined, url: undefined });
  const checksum = createHash("sha256").update(bytes).digest("hex");
  const file = { fileName: "bench.bin", contentType: "application/octet-stream", checksum };
  core.packages.upload(target, { ...file, bytes, algorithm: "SHA256" });
  core.updateDevice(device, { name, profileId, firmwareId: target.id });
}

async function steps(kib: number): Promise<number> {
  const ends: (() => Promise<void>)[] = [];
  const teardown = { teardown: (end: () => Promise<void>) => ends.push(end) };
  try {
    const firmware = { title: "bench", version: "1.0.0", allowHttp: true };
    const still = await standStill(teardown, { connections: 2, firmware });
    const { clock, host, bridge } = still;
    host.net.options.segmentBytes = 1460;
    const before = bridge.compute;
    assign(still, Buffer.alloc(kib * KIB, "an image "));
    await clock.runUntil(() => host.slot.activated !== undefined);
    return bridge.compute - before;
  } finally {
    for (const end of ends) await end();
  }
}

/** Steps of the engine for one KiB more. */
export async function stepsPerKib(): Promise<number> {
  const small = await steps(SMALL);
  return Math.round((await steps(LARGE)) - small) / (LARGE - SMALL);
}
