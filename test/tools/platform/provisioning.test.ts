import test from "ava";
import type { Strategy } from "../../../tools/platform/core/profiles.js";
import { createRig, type Rig } from "./rig.js";

const NOT_FOUND = '{"errorMsg":"Provision data was not found!","status":"NOT_FOUND"}';
const FAILURE = '{"errorMsg":"Failed to provision device!","status":"FAILURE"}';

function ask(rig: Rig, fields: Record<string, unknown> = {}): string {
  const body = { provisionDeviceKey: "key", provisionDeviceSecret: "secret", ...fields };
  const { status, text } = rig.call("POST", "/api/v1/provision", JSON.stringify(body));
  return status === 200 ? text : `${status} ${text}`;
}

function strategy(rig: Rig, name: Strategy): void {
  rig.core.updateProfile(rig.profile, { ...rig.profile, strategy: name });
}

test(`a new device gets the token it proposed, or a random one`, (t) => {
  const rig = createRig();
  t.is(
    ask(rig, { deviceName: "new", token: "mine" }),
    '{"credentialsValue":"mine","credentialsType":"ACCESS_TOKEN","status":"SUCCESS"}',
  );
  t.is(rig.core.devices.byToken("mine")?.name, "new");
  t.regex(ask(rig, { deviceName: "newer" }), /^\{"credentialsValue":"[A-Za-z0-9]{20}"/);
  t.is(rig.core.devices.byName("new")?.profileId, rig.profile.id);
  t.is(
    rig.core.devices.byName("new")?.attributes.get("SERVER_SCOPE", "provisionState")?.value,
    "provisioned",
  );
});

test(`a wrong secret, an unknown key and a switched-off profile are the same 200 NOT_FOUND`, (t) => {
  const rig = createRig();
  t.is(ask(rig, { deviceName: "x", provisionDeviceSecret: "wrong" }), NOT_FOUND);
  t.is(ask(rig, { deviceName: "x", provisionDeviceSecret: "" }), NOT_FOUND);
  t.is(ask(rig, { deviceName: "x", provisionDeviceKey: "unknown" }), NOT_FOUND);
  strategy(rig, "DISABLED");
  t.is(ask(rig, { deviceName: "x" }), NOT_FOUND);
  t.is(rig.core.devices.byName("x"), undefined);
});

test(`a name or a token that is taken, or a blank name, is a 200 FAILURE`, (t) => {
  const rig = createRig();
  t.is(ask(rig, { deviceName: "greenhouse-7" }), FAILURE);
  t.is(ask(rig, { deviceName: " greenhouse-7 " }), FAILURE);
  t.is(ask(rig, { deviceName: "other", token: "the-device-token" }), FAILURE);
  t.is(ask(rig, { deviceName: "   " }), FAILURE);
  t.is(ask(rig, { deviceName: "n".repeat(256) }), FAILURE);
  t.is(rig.core.devices.byName("other"), undefined);
});

test(`a pre-provisioned device gets its own token, once`, (t) => {
  const rig = createRig();
  strategy(rig, "CHECK_PRE_PROVISIONED_DEVICES");
  const own = '{"credentialsValue":"the-device-token","credentialsType":"ACCESS_TOKEN","status":"SUCCESS"}';
  t.is(ask(rig, { deviceName: "greenhouse-7", token: "proposed" }), own);
  t.is(ask(rig, { deviceName: "greenhouse-7" }), FAILURE);
  t.is(ask(rig, { deviceName: "unknown" }), FAILURE);
  t.is(ask(rig), FAILURE);
});

test(`a request that lacks something is refused`, (t) => {
  const rig = createRig();
  const refusal = "500";
  for (const fields of [
    { provisionDeviceKey: undefined },
    { provisionDeviceSecret: null },
    { deviceName: null },
    { credentialsType: "PASSPORT" },
    { token: {} },
  ]) {
    t.true(ask(rig, fields).startsWith(refusal), JSON.stringify(fields));
  }
  t.is(rig.call("POST", "/api/v1/provision", "{").status, Number(refusal));
  t.is(rig.call("POST", "/api/v1/provision", "[]").status, Number(refusal));
  t.is(rig.call("POST", "/api/v1/provision", "").status, 400);
});

test("without a name the device gets a random one", (t) => {
  const rig = createRig();
  ask(rig, { token: "mine" });
  t.regex(rig.core.devices.byToken("mine")?.name ?? "", /^[A-Za-z0-9]{20}$/);
});

test("a device with other credentials has no access token", (t) => {
  const rig = createRig();
  const answer = ask(rig, { deviceName: "m", credentialsType: "MQTT_BASIC", username: "u", password: "p" });
  t.deepEqual(JSON.parse(answer), {
    credentialsValue: { clientId: null, userName: "u", password: "p" },
    credentialsType: "MQTT_BASIC",
    status: "SUCCESS",
  });
  t.is(rig.core.devices.byToken("u"), undefined);
  t.is(ask(rig, { deviceName: "n", credentialsType: "X509_CERTIFICATE" }), FAILURE);
  t.is(rig.core.devices.byName("n"), undefined);
});

test("a profile with certificate chains answers after a long silence, with nothing", (t) => {
  const rig = createRig();
  strategy(rig, "X509_CERTIFICATE_CHAIN");
  const body = '{"provisionDeviceKey":"key","provisionDeviceSecret":"secret"}';
  const asked = rig.call("POST", "/api/v1/provision", body);
  t.is(asked.status, undefined);
  rig.clock.advance(10_000);
  t.deepEqual([asked.status, asked.text], [500, ""]);
});
