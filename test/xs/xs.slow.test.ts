// Tests that are too long for npm test: ten thousand points, an image of 1 MiB, a day of trouble.
import { createHash } from "node:crypto";
import type { ExecutionContext } from "ava";
import { testOnXs } from "./engine/on-xs.js";
import { type Still, standStill } from "./engine/still.js";

// The agent's memory does not grow with its work: slots in use after a garbage collection are
// compared exactly.

const RECORD = `globalThis.fromParent = (what, from) => {
  for (let i = from; i < from + 100; i++) agent.telemetry.record({ temperature: 20 + (i % 100) / 10, humidity: 40, count: i });
}`;

testOnXs("without a durable queue: as many slots after 10,000 points as after 100", async (t) => {
  const still = await standStill(t, {}, RECORD, 0);
  /** Records a hundred points at a time. Each hundred is delivered before the next. */
  const record = async (from: number, total: number): Promise<number> => {
    for (let count = from; count < total; count += 100) {
      still.bridge.notify("record", count);
      await still.clock.advance(30_000);
    }
    return still.slots();
  };
  const few = await record(0, 100);
  t.is(await record(100, 10_000), few);
  t.is(still.platform.points(still.device, "count").length, 10_000);
});

// The agent's memory does not grow with an image of 1 MiB: slots in use after a garbage collection,
// and the bytes of buffers that can still be reached then.

const SIZE = 1024 * 1024;
const SLOT_BYTES = 16;
const PEAK_BYTES = 8192;
/** The image's own bytes go through the buffer that every answer is read into. */
const PEAK_IN_BUFFERS = 1024;

/** An image that no compression of anything could keep. */
function imageOf(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += 32) createHash("sha256").update(String(at)).digest().copy(bytes, at);
  return bytes;
}

function assign({ platform, device }: Still, bytes: Buffer): void {
  const { core } = platform;
  const { profileId, name } = device;
  const fields = { type: "FIRMWARE", title: "still", version: "2.0.0", profileId } as const;
  const target = core.packages.create({ ...fields, tag: undefined, url: undefined });
  const file = { fileName: "still.bin", contentType: "application/octet-stream", checksum: undefined };
  core.packages.upload(target, { ...file, bytes, algorithm: "SHA256" });
  core.updateDevice(device, { name, profileId, firmwareId: target.id });
}

/** Takes the image; resolves with what `look` said once each 16 KiB, and at the end. */
async function take(t: ExecutionContext, still: Still, look: () => Promise<number>): Promise<number[]> {
  const { clock, host } = still;
  host.net.options.segmentBytes = 1460;
  const bytes = imageOf(SIZE);
  assign(still, bytes);
  const looks: number[] = [];
  let stored = host.store.changes.length;
  while (host.slot.activated === undefined) {
    await clock.runUntil(() => host.store.changes.length >= stored + 2 || host.slot.activated !== undefined);
    stored = host.store.changes.length;
    looks.push(await look());
  }
  t.is(host.slot.activated, SIZE);
  t.true(bytes.equals(host.slot.bytes.subarray(0, SIZE)));
  return looks;
}

for (const connections of [1, 2, 3] as const) {
  const mode = `${connections} connection${connections > 1 ? "s" : ""}`;
  const options = { connections, firmware: { title: "still", version: "1.0.0", allowHttp: true } };

  testOnXs(
    `${mode}: 1 MiB of firmware takes 8 KiB of slots at most, from its first byte to its last`,
    async (t) => {
      const still = await standStill(t, options);
      const idle = await still.slots();
      const looks = await take(t, still, () => still.bridge.slots());
      const peak = (Math.max(...looks) - idle) * SLOT_BYTES;
      t.log(`${peak} bytes in slots above idle, at ${looks.length} looks`);
      t.true(peak <= PEAK_BYTES, `${peak}`);
      // The last looks are at the image being read back, with nothing under way.
      t.is(new Set(looks.slice(0, -2)).size, 1, looks.join(" "));
    },
  );

  testOnXs(`${mode}: 1 MiB of firmware takes 1 KiB of buffers at most`, async (t) => {
    const still = await standStill(t, options, "", 16, true);
    await still.slots();
    const idle = await still.buffers();
    const looks = await take(t, still, () => still.buffers());
    const peak = Math.max(...looks) - idle;
    t.log(`${peak} bytes in buffers above ${idle}`);
    t.true(idle > 0);
    t.true(peak <= PEAK_IN_BUFFERS, `${peak}`);
  });
}

// RPCs and attributes, with lost answers and broken connections among them.

const APPLICATION = `
  globalThis.seen = undefined;
  agent.attributes.subscribe("interval", (value) => { seen = value; });
  agent.rpc.handle("echo", (params) => params);
`;
const MINUTE = 60_000;
/** Longer than any back-off: nothing of the trouble is left. */
const CALM_MS = 20 * MINUTE;

testOnXs(
  "as many slots after a day of RPCs, changes, outages and lost answers as after an hour",
  async (t) => {
    const still = await standStill(t, {}, APPLICATION);
    const { clock, platform, device, host } = still;
    const counted = platform.fault;
    let n = 0;
    let answered = 0;
    platform.fault = (request) => {
      counted?.(request);
      if (n % 60 > 50) return "drop";
      return request.method === "POST" && n % 10 === 5 ? "lose-answer" : undefined;
    };
    const live = async (minutes: number): Promise<number> => {
      for (const end = n + minutes; n < end; n++) {
        if (n % 20 === 7) for (const peer of host.net.peers) if (!peer.closed) peer.reset();
        platform.setShared(device, { interval: n });
        const results = platform.rpc(device, "echo", { n });
        await clock.advance(MINUTE);
        if (results[0]?.kind === "answer") answered++;
      }
      await clock.advance(CALM_MS);
      // A request that happens to be under way is not what the device keeps.
      return Math.min(await still.slots(), await still.slots(), await still.slots());
    };
    const few = await live(60);
    t.is(await live(24 * 60), few);
    t.is(await still.bridge.run("seen"), n - 1);
    t.true(answered > 0.6 * n, `${answered} of ${n}`);
  },
);
