// What a naive client gets wrong about values, attributes and firmware: the surprises of docs/protocol.md by their numbers, in bytes.
import test from "ava";
import type { NewPackage } from "../../../tools/operator/ota.js";
import { BOTH, inModes, type Wire } from "./http/wire.js";

const UPDATES = "attributes/updates?timeout=20000";

/** As the device reads them back: the text shows the types. */
async function stored({ ask }: Wire, literals: readonly string[]): Promise<string[]> {
  const body = `{${literals.map((literal, index) => `"v${index}":${literal}`).join(",")}}`;
  const { status } = await ask("POST", "attributes", body);
  if (status !== 200) throw new Error(`${status} for ${body}`);
  const { text } = await ask(
    "GET",
    `attributes?clientKeys=${literals.map((_, index) => `v${index}`).join(",")}`,
  );
  return literals.map((_, index) => new RegExp(`"v${index}":(.*?)(?:,"v|}}$)`).exec(text)?.[1] ?? "absent");
}

async function firmware({ operator, deviceId, clock }: Wire, bytes: string, more: Partial<NewPackage> = {}) {
  const { deviceProfileId } = await operator.devices.get(deviceId);
  const made = { title: "greenhouse", version: "2", deviceProfileId: deviceProfileId?.id ?? "", ...more };
  const { id } = await operator.ota.create(made);
  await operator.ota.upload(id.id, Buffer.from(bytes), { algorithm: "CRC32" });
  await operator.ota.assign(deviceId, id.id);
  return () => clock.advance(1_000);
}

test(
  "surprise 8: changes between two polls are not sent later, and an assignment of firmware sends the poll only a deletion",
  inModes(BOTH, async (t, wire) => {
    const { ask, hold, operator, deviceId, clock } = wire;
    await operator.attributes.set(deviceId, "SHARED_SCOPE", { interval: 5 });
    const poll = await hold("GET", UPDATES);
    clock.advance(19_999);
    const proceed = await firmware(wire, "0123456789", { tag: "night" });
    proceed();
    t.deepEqual(JSON.parse((await poll.answer).text), { deleted: ["fw_url"] });
    const next = await hold("GET", UPDATES);
    clock.advance(20_000);
    t.is((await next.answer).status, 408);
    const { shared } = JSON.parse((await ask("GET", "attributes?sharedKeys=interval,fw_version")).text);
    t.deepEqual(shared, { interval: 5, fw_version: "2" });
  }),
);

test(
  "surprise 9: a deletion is a list of names, of keys that never were as well",
  inModes(BOTH, async (t, { hold, operator, deviceId }) => {
    await operator.attributes.set(deviceId, "SHARED_SCOPE", { interval: 5 });
    const poll = await hold("GET", UPDATES);
    await operator.attributes.delete(deviceId, "SHARED_SCOPE", ["interval", "never"]);
    t.deepEqual(JSON.parse((await poll.answer).text).deleted.sort(), ["interval", "never"]);
  }),
);

test(
  "surprise 10: attributes without keys are all attributes, none found is {}, and a group without entries is absent",
  inModes(BOTH, async (t, { ask, operator, deviceId }) => {
    t.is((await ask("GET", "attributes")).text, "{}");
    await operator.attributes.set(deviceId, "SHARED_SCOPE", { interval: 5, other: 6 });
    await operator.attributes.set(deviceId, "SERVER_SCOPE", { hidden: 1 });
    t.is((await ask("GET", "attributes")).text, '{"shared":{"interval":5,"other":6}}');
    await ask("POST", "attributes", '{"serial":"A"}');
    t.is(
      (await ask("GET", "attributes")).text,
      '{"client":{"serial":"A"},"shared":{"interval":5,"other":6}}',
    );
    t.is((await ask("GET", "attributes?sharedKeys=other,absent")).text, '{"shared":{"other":6}}');
    t.is((await ask("GET", "attributes?clientKeys=absent")).text, "{}");
  }),
);

test(
  "surprise 12: texts that look like numbers become numbers, and some numbers become texts or whole",
  inModes(BOTH, async (t, wire) => {
    const typed = {
      '"007"': "7",
      '"1.10"': "1.1",
      '"2"': "2",
      '"1.0.0"': '"1.0.0"',
      "0.30000000000000004": '"0.30000000000000004"',
      "9223372036854775807": "9223372036854775807",
      "9223372036854775808": '"9223372036854775808"',
      "9999999.0": "9999999.0",
      "10000000.0": "10000000",
      "21.5": "21.5",
    };
    t.deepEqual(await stored(wire, Object.keys(typed)), Object.values(typed));
  }),
);

test(
  "surprise 13: null deletes nothing: values and members that are null disappear",
  inModes(BOTH, async (t, wire) => {
    t.deepEqual(await stored(wire, ["1", '{"a":null,"b":[null,1]}']), ["1", '{"b":[null,1]}']);
    t.deepEqual(await stored(wire, ["null", "2"]), ["1", "2"]);
  }),
);

test(
  "surprise 14: ts and values together are a time stamp, whatever stands beside them, and seconds are taken for milliseconds",
  inModes(BOTH, async (t, { ask, operator, deviceId }) => {
    t.is((await ask("POST", "telemetry", '{"ts":1700000000,"values":{"a":1},"b":2}')).status, 200);
    t.deepEqual(await operator.timeSeries.latest(deviceId, ["a", "b"]), {
      a: { ts: 1_700_000_000, value: 1 },
    });
    await ask("POST", "telemetry", '{"ts":1}');
    await ask("POST", "telemetry", '{"values":{"c":1}}');
    const { ts, values } = await operator.timeSeries.latest(deviceId, ["ts", "values"]);
    t.deepEqual([ts?.value, values?.value], [1, { c: 1 }]);
  }),
);

test(
  "surprise 15: a 200 is not storage: a key too long or like markup loses all keys of its element",
  inModes(BOTH, async (t, { ask, operator, deviceId }) => {
    for (const key of ["k".repeat(256), "<b>k</b>", "{{k}}"]) {
      const body = JSON.stringify([{ lost: 1, [key]: 1 }, { kept: 1 }]);
      t.is((await ask("POST", "telemetry", body)).status, 200);
    }
    t.deepEqual(await operator.timeSeries.keys(deviceId), ["kept"]);
  }),
);

test(
  "surprise 18: a CRC32 is byte-reversed, and firmware elsewhere may lack size and checksum and is a 404 here",
  inModes(BOTH, async (t, wire) => {
    const { ask, operator, deviceId, platform, clock } = wire;
    (await firmware(wire, "123456789"))();
    const { shared } = JSON.parse((await ask("GET", "attributes?sharedKeys=fw_checksum")).text);
    // CRC-32 of "123456789" is cbf43926.
    t.is(shared.fw_checksum, "2639f4cb");
    const url = "https://cdn.example.com/app.bin";
    const fields = { type: "FIRMWARE", title: "greenhouse", version: "3", tag: undefined } as const;
    const elsewhere = platform.core.packages.create({ ...fields, url, profileId: wire.device.profileId });
    await operator.ota.assign(deviceId, elsewhere.id);
    clock.advance(2_000);
    const all = JSON.parse((await ask("GET", "attributes")).text).shared;
    t.deepEqual(all, { fw_title: "greenhouse", fw_version: "3", fw_url: url });
    t.like(await ask("GET", "firmware?title=greenhouse&version=3"), { status: 404, text: "" });
  }),
);

test(
  "surprise 19: a chunk past the end is a 200 with zero bytes, and size 0 sends the whole file whatever the chunk",
  inModes(BOTH, async (t, wire) => {
    (await firmware(wire, "0123456789"))();
    const chunk = async (query: string) => {
      const { status, text } = await wire.ask("GET", `firmware?title=greenhouse&version=2&${query}`);
      return [status, text];
    };
    t.deepEqual(await chunk("size=4&chunk=2"), [200, "89"]);
    t.deepEqual(await chunk("size=4&chunk=3"), [200, ""]);
    t.deepEqual(await chunk("size=4&chunk=99"), [200, ""]);
    t.deepEqual(await chunk("size=0&chunk=7"), [200, "0123456789"]);
  }),
);

test(
  "surprise 23: the platform never reacts to fw_state, and what it set stays after the update",
  inModes(BOTH, async (t, wire) => {
    (await firmware(wire, "0123456789"))();
    const before = JSON.parse((await wire.ask("GET", "attributes")).text);
    for (const state of ["DOWNLOADING", "FAILED", "UPDATED"]) {
      const report = { current_fw_title: "greenhouse", current_fw_version: "2.0.0", fw_state: state };
      t.is((await wire.ask("POST", "telemetry", JSON.stringify(report))).status, 200);
    }
    wire.clock.advance(60_000);
    t.deepEqual(JSON.parse((await wire.ask("GET", "attributes")).text), before);
    t.is(before.shared.fw_version, "2");
    t.is((await wire.operator.timeSeries.latest(wire.deviceId, ["fw_state"])).fw_state?.value, "UPDATED");
  }),
);
