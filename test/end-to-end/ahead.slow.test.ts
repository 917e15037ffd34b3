import test from "ava";
import { startProxy } from "./proxy.js";
import { latest, type Rig, startRig, until } from "./rig.js";
import { image, imageText, run } from "./run.js";
import { overHttp, PATIENCE_MS, SERVERS, SKEW_MS } from "./server.js";

/** Uploads an image as an OTA package; returns its id. */
async function upload(rig: Rig, version: string, body: string): Promise<string> {
  const made = await rig.operator.ota.create({ title: rig.name, version, deviceProfileId: rig.profileId });
  await rig.operator.ota.upload(made.id.id, Buffer.from(imageText(rig, version, body)));
  return made.id.id;
}

/** How many requests of this path were answered so. Only the local platform knows: with another server always undefined. */
async function answered(rig: Rig, path: string, status = 0): Promise<number | undefined> {
  if (rig.server.url !== undefined) return undefined;
  const list = await rig.operator.requests();
  return list.filter((one) => one.path.includes(path) && (status === 0 || one.status === status)).length;
}

for (const server of SERVERS) {
  test(`${server.name}: firmware assigned while a poll is open: the update starts, though the poll brought only the deletion`, async (t) => {
    const rig = await startRig(t, server);
    const device = run(t, rig, image(rig, "1.0.0", "agent.telemetry.record({ running: 1 });"));
    const id = await rig.deviceId();
    // The poll is open once its successor's predecessor has not ended: none has been answered yet.
    await until(async () => (await latest(rig, id, "current_fw_version")) === "1.0.0", "it runs");
    const package2 = await upload(rig, "2.0.0", "agent.telemetry.record({ running: 2 });");
    await rig.operator.ota.assign(id, package2);
    await until(async () => (await latest(rig, id, "fw_state")) === "UPDATED", "it is updated");
    await until(async () => (await latest(rig, id, "current_fw_version")) === "2.0.0", "it says so");
    await until(async () => (await latest(rig, id, "running")) === 2, "the new image records");
    t.is(await device.stop(), 0);
  });

  overHttp(
    `${server.name}: one two-way RPC handed out on every poll until answered, twelve times, with a restart in between: the handler ran once, the caller got its answer`,
    async (t) => {
      const rig = await startRig(t, server);
      const proxy = await startProxy(rig.url);
      t.teardown(() => proxy.close());
      let refused = 0;
      proxy.rule((line) => {
        if (!/^POST \S+\/rpc\/\d+ /.test(line) || refused >= 12) return "pass";
        refused++;
        return { answer: "HTTP/1.1 404 \r\nContent-Length: 0\r\n\r\n" };
      });
      let runs = 0;
      const start = () => {
        const agent = rig.agent({ baseUrl: proxy.url });
        agent.rpc.handle("count", () => ++runs);
        agent.start();
        return agent;
      };
      const first = start();
      const id = await rig.deviceId();
      const answer = rig.operator.rpc.twoWay(id, "count", {}, { timeoutMs: Math.max(30_000, PATIENCE_MS) });
      await until(async () => refused >= 6, "half of the answers were refused");
      await first.stop();
      start();
      t.is(await answer, 1);
      t.is(runs, 1);
      t.is(refused, 12);
      t.true(((await answered(rig, "/rpc?", 200)) ?? 12) >= 12);
    },
  );

  test(`${server.name}: a wrong checksum: the image is refused, reported FAILED with the reason, and not fetched again until assigned again`, async (t) => {
    const rig = await startRig(t, server);
    const app = image(rig, "1.0.0", "");
    const device = run(t, rig, app);
    const id = await rig.deviceId();
    await until(async () => (await latest(rig, id, "current_fw_version")) === "1.0.0", "it runs");
    t.is(await device.stop(), 0);
    const package2 = await upload(rig, "2.0.0", "");
    await rig.operator.ota.assign(id, package2);
    const right = await until(async () => {
      const shared = await rig.operator.attributes.get(id, "SHARED_SCOPE", ["fw_checksum"]);
      return typeof shared.fw_checksum === "string" && shared.fw_checksum;
    }, "it is assigned");
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { fw_checksum: "0".repeat(64) });
    const fetched = () => answered(rig, "/firmware?");

    const again = run(t, rig, app);
    await until(async () => (await latest(rig, id, "fw_state")) === "FAILED", "it is refused");
    t.regex(String(await latest(rig, id, "fw_error")), /checksum/i);
    const before = await fetched();
    t.is(await again.stop(), 0);

    // Neither a restart nor a look at the same assignment fetches it again.
    const third = run(t, rig, app);
    await until(async () => third.seen("online").length > 0, "it is back");
    await new Promise((resolve) => setTimeout(resolve, 4000));
    t.is(await fetched(), before);
    t.is(await latest(rig, id, "fw_state"), "FAILED");

    // An empty checksum is refused without a byte fetched; a right one is taken.
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { fw_checksum: "" });
    await until(
      async () => /checksum/i.test(String(await latest(rig, id, "fw_error"))),
      "the empty one is refused",
    );
    t.is(await fetched(), before);
    await rig.operator.attributes.set(id, "SHARED_SCOPE", { fw_checksum: right });
    await until(async () => (await latest(rig, id, "fw_state")) === "UPDATED", "the right one is taken");
    t.is(await third.stop(), 0);
  });

  overHttp(
    `${server.name}: power loss between reading a batch from the queue and its confirmation: nothing is lost`,
    async (t) => {
      const rig = await startRig(t, server);
      const proxy = await startProxy(rig.url);
      t.teardown(() => proxy.close());
      let held = 0;
      proxy.rule((line) => {
        if (!line.includes("/telemetry ")) return "pass";
        held++;
        // The platform takes the second batch, the device never learns it; of the first not even the request arrives.
        return held === 1 ? { answer: "" } : "swallow";
      });
      const body =
        "if (host.store.get('done')) return; for (let i = 0; i < 500; i++) agent.telemetry.record({ n: i }); host.store.set('done', new Uint8Array(1));";
      const app = image(rig, "1.0.0", body);
      const device = run(t, rig, app, [], proxy.url);
      const id = await rig.deviceId();
      await until(async () => held >= 1, "a batch is under way");
      await device.kill();
      const second = run(t, rig, app, [], proxy.url);
      await until(
        async () => held >= 2 && (await latest(rig, id, "n")) !== undefined,
        "a batch is taken unheard",
      );
      await second.kill();
      proxy.rule(() => "pass");
      const third = run(t, rig, app, [], proxy.url);
      await until(async () => (await latest(rig, id, "n")) === 499, "the last point is there");
      const all = {
        keys: ["n"],
        startTs: 0,
        endTs: Date.now() + 60_000 + SKEW_MS,
        limit: 1000,
        orderBy: "ASC",
      } as const;
      const points = await until(async () => {
        const { n = [] } = await rig.operator.timeSeries.range(id, all);
        return n.length === 500 && n;
      }, "all points are there");
      t.deepEqual(
        points.map((point) => point.value),
        [...Array(500).keys()],
      );
      t.is(await third.stop(), 0);
    },
  );
}
