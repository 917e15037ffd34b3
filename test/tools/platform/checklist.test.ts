// What a faithful local platform must do: the checklist of docs/protocol.md by its numbers, in bytes.
import test from "ava";
import { BOTH, DEPLOYED, inModes, startWire, until, type Wire } from "./http/wire.js";

const POLL = "rpc?timeout=20000";
const UPDATES = "attributes/updates?timeout=20000";
const EMPTY_200 = { status: 200, text: "" };

test(
  "checklist 1: telemetry, attributes, a claim and an RPC's answer are an empty 200 without a type",
  inModes(BOTH, async (t, { ask }) => {
    const requests = [
      ["telemetry", '{"a":1}'],
      ["attributes", '{"a":1}'],
      ["claim", undefined],
      ["rpc/0", "{}"],
    ] as const;
    for (const [path, body] of requests) {
      const answer = await ask("POST", path, body);
      t.like(answer, EMPTY_200);
      t.is(answer.headers["content-type"], undefined);
      t.is(answer.headers["content-length"], "0");
    }
  }),
);

test(
  "checklist 1: an unknown token is an empty 401 everywhere",
  inModes(BOTH, async (t, { ask }) => {
    for (const path of ["telemetry", "attributes", "claim", "rpc", "rpc/0"])
      t.like(await ask("POST", `/api/v1/unknown/${path}`, "{}"), { status: 401, text: "" }, path);
    for (const path of ["attributes", "attributes/updates", "rpc", "firmware?title=a&version=1"])
      t.like(await ask("GET", `/api/v1/unknown/${path}`), { status: 401, text: "" }, path);
  }),
);

test(
  "checklist 1: a body of the wrong kind is a 500 with a text, a member of the wrong type an empty one",
  inModes(DEPLOYED, async (t, { ask }) => {
    for (const [path, body] of [
      ["telemetry", "1"],
      ["telemetry", "{"],
      ["attributes", "[]"],
      ["claim", "[]"],
    ] as const) {
      const { status, text } = await ask("POST", path, body);
      t.is(status, 500);
      t.not(text, "", `${path} ${body}`);
    }
    for (const [path, body] of [
      ["telemetry", '{"ts":"x","values":{}}'],
      ["telemetry", '{"ts":1,"values":1}'],
      ["claim", '{"secretKey":null}'],
      ["rpc", '{"method":"m"}'],
    ] as const)
      t.like(await ask("POST", path, body), { status: 500, text: "" }, `${path} ${body}`);
  }),
);

test(
  "checklist 1: a poll's own end is an empty 408, the server's a 503 in JSON, and both end the connection",
  inModes(DEPLOYED, async (t, { hold, clock }) => {
    const polls = [await hold("GET", POLL), await hold("GET", UPDATES), await hold("GET", "rpc")];
    clock.advance(30_000);
    const [one, two, three] = await Promise.all(polls.map(({ answer }) => answer));
    for (const poll of [one, two]) t.like(poll, { status: 408, text: "", closed: true });
    t.like(three, { status: 503, closed: true });
    t.is(three?.headers["content-type"], "application/json");
  }),
);

test(
  "checklist 1: firmware that is not assigned is an empty 404, of another title or version an empty 400",
  inModes(BOTH, async (t, wire) => {
    t.like(await wire.ask("GET", "firmware?title=greenhouse&version=2"), { status: 404, text: "" });
    await assign(wire);
    for (const query of ["title=greenhouse&version=1", "title=Greenhouse&version=2"])
      t.like(await wire.ask("GET", `firmware?${query}`), { status: 400, text: "" });
    t.like(await wire.ask("GET", "firmware?title=greenhouse&version=2"), { status: 200, text: "0123456789" });
    t.like(await wire.ask("GET", "software?title=greenhouse&version=2"), { status: 404, text: "" });
  }),
);

async function assign({ operator, deviceId }: Wire): Promise<void> {
  const { deviceProfileId } = await operator.devices.get(deviceId);
  const made = { title: "greenhouse", version: "2", deviceProfileId: deviceProfileId?.id ?? "" };
  const { id } = await operator.ota.create(made);
  await operator.ota.upload(id.id, Buffer.from("0123456789"));
  await operator.ota.assign(deviceId, id.id);
}

test(
  "checklist 2: a one-way RPC leaves the list when it is handed out, a two-way one when it is answered",
  inModes(BOTH, async (t, { ask, operator, deviceId, device }) => {
    const oneWay = operator.rpc.oneWay(deviceId, "one-way");
    await until(() => device.rpc.pending === 1);
    const twoWay = operator.rpc.twoWay(deviceId, "two-way");
    await until(() => device.rpc.pending === 2);
    t.is((await ask("GET", POLL)).text, '{"id":0,"method":"one-way","params":null}');
    await oneWay;
    t.is(device.rpc.pending, 1);
    t.is((await ask("GET", POLL)).text, '{"id":1,"method":"two-way","params":null}');
    t.is(device.rpc.pending, 1);
    await ask("POST", "rpc/1", '"done"');
    t.is(await twoWay, "done");
    t.is(device.rpc.pending, 0);
  }),
);

test(
  "checklist 2: after a 408, a 503 and a hang-up the next one-way RPC vanishes, and the caller gets OK",
  inModes(DEPLOYED, async (t, { hold, operator, deviceId, device, clock, platform }) => {
    const ends = [
      async () => {
        const poll = await hold("GET", POLL);
        clock.advance(20_000);
        t.is((await poll.answer).status, 408);
      },
      async () => {
        const poll = await hold("GET", "rpc?timeout=60000");
        clock.advance(30_000);
        t.is((await poll.answer).status, 503);
      },
      async () => {
        const poll = await hold("GET", POLL);
        poll.hangUp();
        await until(() => platform.api.log.list().some(({ status }) => status === 0));
      },
    ];
    for (const end of ends) {
      await end();
      await operator.rpc.oneWay(deviceId, "lost");
      t.is(device.rpc.pending, 0);
    }
  }),
);

test(
  "checklist 2: an answer is a 200 whatever its id, and the first one holds",
  inModes(BOTH, async (t, { ask, operator, deviceId, device }) => {
    t.like(await ask("POST", "rpc/77", "1"), EMPTY_200);
    const answer = operator.rpc.twoWay(deviceId, "m");
    await until(() => device.rpc.pending === 1);
    t.like(await ask("POST", "rpc/0", "1"), EMPTY_200);
    t.like(await ask("POST", "rpc/0", "2"), EMPTY_200);
    t.is(await answer, 1);
  }),
);

test(
  "checklist 3: a change of shared attributes goes to the polls open at that instant, and to none later",
  inModes(BOTH, async (t, { hold, operator, deviceId, clock }) => {
    const set = (values: object) => operator.attributes.set(deviceId, "SHARED_SCOPE", { ...values });
    await set({ before: 1 });
    const open = [await hold("GET", UPDATES), await hold("GET", UPDATES)];
    await set({ a: 1, b: "x" });
    await set({ after: 1 });
    for (const { answer } of open) t.like(await answer, { status: 200, text: '{"a":1,"b":"x"}' });
    const late = await hold("GET", UPDATES);
    clock.advance(20_000);
    t.is((await late.answer).status, 408);
  }),
);

test(
  "checklist 3: an assignment of firmware is a deletion and then an update, each ending a poll of its own",
  inModes(BOTH, async (t, wire) => {
    const { hold, clock } = wire;
    const first = await hold("GET", UPDATES);
    await assign(wire);
    clock.advance(0);
    t.deepEqual(JSON.parse((await first.answer).text).deleted.sort(), ["fw_tag", "fw_url"]);
    const second = await hold("GET", UPDATES);
    clock.advance(100);
    t.deepEqual(Object.keys(JSON.parse((await second.answer).text)).sort(), [
      "fw_checksum",
      "fw_checksum_algorithm",
      "fw_size",
      "fw_title",
      "fw_version",
    ]);
  }),
);

test("checklist 4: the server's limit and the poll's default time are settable", async (t) => {
  const wire = await startWire(t, { as: "deployed", asyncCapMs: 300_000, requestTimeoutMs: 50_000 });
  const polls = [await wire.hold("GET", "rpc"), await wire.hold("GET", "rpc?timeout=400000")];
  wire.clock.advance(50_000);
  t.is((await polls[0]?.answer)?.status, 408);
  wire.clock.advance(250_000);
  t.is((await polls[1]?.answer)?.status, 503);
  const plain = await startWire(t, { as: "documented" });
  const poll = await plain.hold("GET", "rpc");
  plain.clock.advance(60_000);
  t.is((await poll.answer).status, 408);
});

test("checklist 4: rate limits are settable, for each device and for the tenant", async (t) => {
  for (const owner of ["device", "tenant"] as const) {
    const rateLimits = { [`${owner}-telemetry`]: "2:1,3:60" };
    const { ask, clock } = await startWire(t, { as: "deployed", rateLimits });
    const post = async (): Promise<number> => (await ask("POST", "telemetry", '{"a":1}')).status;
    t.deepEqual([await post(), await post(), await post()], [200, 200, 500]);
    clock.advance(1_000);
    t.deepEqual([await post(), await post()], [200, 500]);
  }
});

test(
  "checklist 4: an empty list of points and an empty key hang as deployed, and are answered as documented",
  inModes(BOTH, async (t, { as, ask, hold, clock }) => {
    const requests: [string, string, string?][] = [
      ["POST", "telemetry", "[]"],
      ["GET", "attributes?sharedKeys=a,,b"],
    ];
    for (const request of requests) {
      if (as === "documented") {
        t.is((await ask(...request)).status, 200);
        continue;
      }
      const held = await hold(...request);
      clock.advance(30_000);
      t.is((await held.answer).status, 503);
    }
  }),
);

test(
  "checklist 5: numbers and numeric texts are typed as the table says, and an answer leaves empty groups out",
  inModes(BOTH, async (t, { ask }) => {
    const typed: [literal: string, read: string][] = [
      ["42", "42"],
      ["42.0", "42.0"],
      ["1e3", "1000"],
      ["100.50", "100.5"],
      ["1e19", '"10000000000000000000"'],
      ["12345678.0", "12345678"],
      ["5e-7", "5.0E-7"],
      ["1e-17", '"0.00000000000000001"'],
      ['"42.0"', "42.0"],
      ['"+5"', '"+5"'],
      ["true", "true"],
      ['"true"', '"true"'],
      ['{"n":null,"a":[null]}', '{"a":[null]}'],
    ];
    for (const [literal, read] of typed) {
      t.is((await ask("POST", "attributes", `{"v":${literal}}`)).status, 200);
      t.is((await ask("GET", "attributes")).text, `{"client":{"v":${read}}}`, literal);
    }
  }),
);

test(
  "checklist 6: outcomes of provisioning are a 200 with a status, called text unless JSON is asked for",
  inModes(BOTH, async (t, { ask, platform }) => {
    const { key, secret } = platform.profile;
    const body = JSON.stringify({ deviceName: "n", provisionDeviceKey: key, provisionDeviceSecret: secret });
    const outcomes = [
      await ask("POST", "/api/v1/provision", body),
      await ask("POST", "/api/v1/provision", body),
      await ask("POST", "/api/v1/provision", body.replace(secret, "wrong"), { Accept: "application/json" }),
    ];
    t.deepEqual(
      outcomes.map(({ status, text, headers }) => [status, JSON.parse(text).status, headers["content-type"]]),
      [
        [200, "SUCCESS", "text/plain;charset=UTF-8"],
        [200, "FAILURE", "text/plain;charset=UTF-8"],
        [200, "NOT_FOUND", "application/json"],
      ],
    );
  }),
);
