import test from "ava";
import { release } from "./firmware-large.js";
import { startProxy } from "./proxy.js";
import { latest, startRig, until } from "./rig.js";
import { image, imageText, run } from "./run.js";
import { overHttp, PATIENCE_MS, SERVERS, SKEW_MS } from "./server.js";

for (const server of SERVERS) {
  test(`${server.name}: firmware assigned while a poll is open: the update starts, though the poll brought only the deletion`, async (t) => {
    const rig = await startRig(t, server);
    const device = run(t, rig, image(rig, "1.0.0", "agent.telemetry.record({ running: 1 });"));
    const id = await rig.deviceId();
    // The poll is open once its successor's predecessor has not ended: none has been answered yet.
    await until(async () => (await latest(rig, id, "current_fw_version")) === "1.0.0", "it runs");
    const next = imageText(rig, "2.0.0", "agent.telemetry.record({ running: 2 });");
    await release(rig, "2.0.0", Buffer.from(next));
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
      if (server.url !== undefined) return;
      const requests = await rig.operator.requests();
      t.true(requests.filter(({ path, status }) => path.includes("/rpc?") && status === 200).length >= 12);
    },
  );

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
