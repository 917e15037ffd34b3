import test from "ava";
import type { OtaPackage } from "../../../tools/platform/core/ota/packages.js";
import { valueJson } from "../../../tools/platform/core/values.js";
import { addPackage, createRig, type Rig, START, TOKEN } from "./rig.js";

function upload(rig: Rig, version: string, text = "0123456789", tag?: string): OtaPackage {
  const fields = { title: "greenhouse", version, tag, profileId: rig.profile.id };
  return addPackage(rig.core, fields, Buffer.from(text), "MD5");
}

function assign(rig: Rig, target: OtaPackage | undefined): void {
  rig.core.updateDevice(rig.device, { ...fieldsOf(rig), firmwareId: target?.id });
}

function fieldsOf({ device: { name, profileId } }: Rig): { name: string; profileId: string } {
  return { name, profileId };
}

const shared = (rig: Rig): string[] =>
  rig.device.attributes.list("SHARED_SCOPE").map(([key, { value }]) => `${key}=${valueJson(value)}`);
const get = (rig: Rig, query = "", headers = {}) =>
  rig.call("GET", `firmware?title=greenhouse&version=2${query}`, "", headers);

test("an assignment notifies of deleted, then of new values; a repeated one of none", (t) => {
  const rig = createRig();
  const target = upload(rig, "2");
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, target);
  rig.clock.advance(0);
  t.is(poll.text, '{"deleted":["fw_tag","fw_url"]}');
  t.deepEqual(shared(rig), []);
  const second = rig.call("GET", "attributes/updates?timeout=20000");
  rig.clock.advance(10);
  const set =
    '{"fw_title":"greenhouse","fw_version":"2","fw_size":10,"fw_checksum_algorithm":"MD5","fw_checksum":"781e5e245d69b566979b86e28d23f2c7"}';
  t.is(second.text, set);
  const third = rig.call("GET", "attributes/updates?timeout=1000");
  assign(rig, target);
  rig.clock.advance(999);
  t.is(third.status, undefined);
});

test("an assignment leaves telemetry on what is to come, and deletes no tag that it sets", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, upload(rig, "2", "x", "night"));
  const state = () => rig.device.series.latest("fw_state")?.value;
  t.is(state(), "QUEUED");
  rig.clock.advance(1);
  t.is(state(), "INITIATED");
  t.is(poll.text, '{"deleted":["fw_url"]}');
  const found = ["title", "version", "tag", "ts"].map(
    (key) => rig.device.series.latest(`target_fw_${key}`)?.value,
  );
  t.deepEqual(found, ["greenhouse", "2", "night", BigInt(START)]);
});

test("assignments are paced, and one that was replaced while it waited is skipped", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  assign(rig, upload(rig, "3"));
  rig.clock.advance(599);
  t.deepEqual(shared(rig), []);
  rig.clock.advance(10);
  t.true(shared(rig).includes('fw_version="3"'));
});

test("refuses a package without data or of another profile", (t) => {
  const rig = createRig();
  const empty = addPackage(rig.core, { profileId: rig.profile.id });
  t.throws(() => assign(rig, empty), { message: "Can't assign firmware with empty data!" });
  const other = addPackage(rig.core, { title: "o", url: "u" });
  t.throws(() => assign(rig, other), { message: "Can't assign firmware with different deviceProfile!" });
  const assigned = upload(rig, "2");
  assign(rig, assigned);
  t.throws(() => rig.core.deletePackage(assigned), { message: /cannot be deleted/ });
});

test(`the file comes whole or in chunks, and past its end there is an empty 200`, (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  const whole = get(rig);
  t.deepEqual([whole.status, whole.text], [200, "0123456789"]);
  t.is(whole.headers["Content-Disposition"], "attachment;filename=app.bin");
  t.is(whole.headers["x-filename"], "app.bin");
  const parts = [
    "&size=4",
    "&size=4&chunk=1",
    "&size=4&chunk=2",
    "&size=4&chunk=3",
    "&size=0&chunk=9",
    "&size=-1",
  ];
  t.deepEqual(
    parts.map((part) => get(rig, part).text),
    ["0123", "4567", "89", "", "0123456789", "0123456789"],
  );
  t.is(get(rig, "&size=4&chunk=-1").status, 500);
  t.is(get(rig, "&size=4&chunk=99").status, 200);
});

test("no secret is written down, however it is sent", (t) => {
  const { api, call } = createRig();
  call(
    "POST",
    "/api/v1/provision",
    "{'provisionDeviceSecret'='hush-1';token:hush-2,provisionDeviceKey:hush-3}",
  );
  call("POST", "/api/v1/provision", '{"provisionDevice\\u0053ecret":"hush-4"}');
  call("POST", "/api/v1/provision", '{"provisionDeviceSecret":"hush-5",');
  call("POST", "claim", '{"secretKey":"hush-6"}');
  call("POST", "/api/v1/hush-7/claim", '{"secretKey":"hush-8"');
  call("POST", "telemetry", `{"note":"${TOKEN}","nested":{"credentialsValue":"hush-9"}}`);
  call("GET", "/api/v1/hush-10");
  const text = JSON.stringify(api.log.list());
  t.is(api.log.list().length, 7);
  t.false(text.includes("hush"), text);
  t.false(text.includes(TOKEN));
});

test("the log keeps 200 bytes of a body and the last thousand requests", (t) => {
  const { api, call } = createRig();
  for (let sent = 0; sent < 1_005; sent++)
    call("POST", "telemetry", `{"n":${sent},"x":"${"x".repeat(500)}"}`);
  const list = api.log.list();
  t.deepEqual([list.length, list[0]?.body.length], [1_000, 200]);
  t.regex(list.at(-1)?.body ?? "", /^\{"n":1004,/);
});
