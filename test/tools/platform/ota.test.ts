import test from "ava";
import { ALGORITHMS, type Algorithm, checksum } from "../../../tools/platform/core/ota/checksum.js";
import type { OtaPackage } from "../../../tools/platform/core/ota/packages.js";
import { valueJson } from "../../../tools/platform/core/values.js";
import { createRig, type Rig, START } from "./rig.js";

const VECTORS: Record<Algorithm, [hello: string, digits: string]> = {
  MD5: ["5d41402abc4b2a76b9719d911017c592", "25f9e794323b453885f5181f1b624d0b"],
  SHA256: [
    "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824",
    "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
  ],
  SHA384: [
    "59e1748777448c69de6b800d7a33bbfb9ff1b463e44354c3553bcdb9c666fa90125a3c79f90397bdf5f6a13de828684f",
    "eb455d56d2c1a69de64e832011f3393d45f3fa31d6842f21af92d2fe469c499da5e3179847334a18479c8d1dedea1be3",
  ],
  SHA512: [
    "9b71d224bd62f3785d96d46ad3ea3d73319bfbc2890caadae2dff72519673ca72323c3d99ba5c11d7c7acc6e14b8c5da0c4663475c2e5c3adef46f73bcdec043",
    "d9e6762dd1c8eaf6d61b3c6192fc408d4d6d5f1176d0c29169bc24e71c3f274ad27fcd5811b313d681f7e55ec02d73d499c95455b6b5bb503acf574fba8ffe85",
  ],
  CRC32: ["86a61036", "2639f4cb"],
  MURMUR3_32: ["47fa8b24", "82f3feb4"],
  MURMUR3_128: ["029bbd41b3a7d8cb191dae486a901e5b", "a4cc66db5e64843c05a11e3ac7faf899"],
};

for (const algorithm of ALGORITHMS) {
  test(`${algorithm} is written as the platform writes it`, (t) => {
    const found = ["hello", "123456789"].map((text) => checksum(algorithm, Buffer.from(text)));
    t.deepEqual(found, VECTORS[algorithm]);
  });
}

function upload(rig: Rig, version: string, text = "0123456789", tag?: string): OtaPackage {
  const fields = { type: "FIRMWARE", title: "greenhouse", version, tag, url: undefined } as const;
  const target = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  const file = { fileName: "app.bin", contentType: "application/octet-stream", checksum: undefined };
  rig.core.packages.upload(target, { ...file, bytes: Buffer.from(text), algorithm: "CRC32" });
  return target;
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

test("an assignment sends open polls the deletion first, and sets the new values a moment later", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, upload(rig, "2"));
  rig.clock.advance(0);
  t.is(poll.text, '{"deleted":["fw_tag","fw_url"]}');
  t.deepEqual(shared(rig), []);
  const second = rig.call("GET", "attributes/updates?timeout=20000");
  rig.clock.advance(10);
  const set =
    '{"fw_title":"greenhouse","fw_version":"2","fw_size":10,"fw_checksum_algorithm":"CRC32","fw_checksum":"c6c784a6"}';
  t.is(second.text, set);
});

test("an assignment leaves telemetry on what is to come", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2", "x", "night"));
  const state = () => rig.device.series.latest("fw_state")?.value;
  t.is(state(), "QUEUED");
  rig.clock.advance(1);
  t.is(state(), "INITIATED");
  const found = ["title", "version", "tag", "ts"].map(
    (key) => rig.device.series.latest(`target_fw_${key}`)?.value,
  );
  t.deepEqual(found, ["greenhouse", "2", "night", BigInt(START)]);
});

test("a package with a tag deletes only fw_url, and the tag is set", (t) => {
  const rig = createRig();
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, upload(rig, "2", "x", "night"));
  rig.clock.advance(10);
  t.is(poll.text, '{"deleted":["fw_url"]}');
  t.true(shared(rig).includes('fw_tag="night"'));
});

test("taking an assignment away deletes every key in one notification", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  rig.clock.advance(10);
  const poll = rig.call("GET", "attributes/updates?timeout=20000");
  assign(rig, undefined);
  const keys = ["title", "version", "ts", "state", "size", "checksum", "checksum_algorithm", "url", "tag"];
  t.deepEqual(JSON.parse(poll.text), { deleted: keys.map((key) => `fw_${key}`) });
  t.deepEqual(shared(rig), []);
});

test("saving the same assignment again notifies nobody", (t) => {
  const rig = createRig();
  const target = upload(rig, "2");
  assign(rig, target);
  rig.clock.advance(10);
  const poll = rig.call("GET", "attributes/updates?timeout=1000");
  assign(rig, target);
  rig.clock.advance(999);
  t.is(poll.status, undefined);
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

test("the profile's package holds for devices that have none of their own", (t) => {
  const rig = createRig();
  const target = upload(rig, "2");
  rig.core.updateProfile(rig.profile, { ...rig.profile, firmwareId: target.id });
  rig.clock.advance(10);
  t.true(shared(rig).includes('fw_version="2"'));
  assign(rig, upload(rig, "3"));
  rig.clock.advance(1_000);
  t.true(shared(rig).includes('fw_version="3"'));
  assign(rig, undefined);
  rig.clock.advance(1_000);
  t.true(shared(rig).includes('fw_version="2"'));
  t.is(get(rig).status, 200);
});

test("a device that provisions itself is notified of its profile's package", (t) => {
  const rig = createRig();
  rig.core.updateProfile(rig.profile, { ...rig.profile, firmwareId: upload(rig, "2").id });
  rig.clock.advance(1_000);
  const body =
    '{"provisionDeviceKey":"key","provisionDeviceSecret":"secret","deviceName":"new","token":"new"}';
  rig.call("POST", "/api/v1/provision", body);
  rig.clock.advance(10);
  t.regex(rig.call("GET", "/api/v1/new/attributes?sharedKeys=fw_version").text, /"fw_version":"2"/);
});

test("a package elsewhere has its address in fw_url, and no bytes here", (t) => {
  const rig = createRig();
  const target = rig.core.packages.create({
    type: "FIRMWARE",
    title: "greenhouse",
    version: "2",
    tag: undefined,
    profileId: rig.profile.id,
    url: "https://files.example.com/app.bin",
  });
  assign(rig, target);
  rig.clock.advance(10);
  t.deepEqual(shared(rig), [
    'fw_title="greenhouse"',
    'fw_version="2"',
    'fw_url="https://files.example.com/app.bin"',
  ]);
  t.deepEqual([get(rig).status, get(rig).text], [404, ""]);
});

test("what can't be assigned is refused", (t) => {
  const rig = createRig();
  const fields = { type: "FIRMWARE", title: "empty", version: "1", tag: undefined, url: undefined } as const;
  const empty = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  t.throws(() => assign(rig, empty), { message: "Can't assign firmware with empty data!" });
  const other = rig.core.packages.create({
    ...fields,
    title: "o",
    profileId: rig.core.profiles.default.id,
    url: "u",
  });
  t.throws(() => assign(rig, other), { message: "Can't assign firmware with different deviceProfile!" });
  const assigned = upload(rig, "2");
  assign(rig, assigned);
  t.throws(() => rig.core.deletePackage(assigned), { message: /cannot be deleted/ });
});

test("a wrong checksum, a second file and an empty one are refused at the upload", (t) => {
  const rig = createRig();
  const fields = { type: "FIRMWARE", title: "t", version: "1", tag: undefined, url: undefined } as const;
  const target = rig.core.packages.create({ ...fields, profileId: rig.profile.id });
  const file = { fileName: "f", contentType: "c", algorithm: "CRC32", bytes: Buffer.from("hello") } as const;
  const put = (change: object) => () =>
    rig.core.packages.upload(target, { ...file, checksum: undefined, ...change });
  t.throws(put({ checksum: "3610a686" }), { message: "Wrong otaPackage file!" });
  t.throws(put({ bytes: new Uint8Array(0) }));
  t.notThrows(put({ checksum: "86a61036" }));
  t.throws(put({}), { message: "Updating otaPackage data is prohibited!" });
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

test(`none assigned is 404, another title or version 400, both without a body`, (t) => {
  const rig = createRig();
  t.deepEqual([get(rig).status, get(rig).text], [404, ""]);
  assign(rig, upload(rig, "2"));
  for (const query of ["title=Greenhouse&version=2", "title=greenhouse&version=2.0"]) {
    const { status, text } = rig.call("GET", `firmware?${query}`);
    t.deepEqual([status, text], [400, ""]);
  }
  t.is(rig.call("GET", "software?title=greenhouse&version=2").status, 404);
});

test("a range counts from the beginning of the chunk", (t) => {
  const rig = createRig();
  assign(rig, upload(rig, "2"));
  const part = get(rig, "", { range: "bytes=2-4" });
  t.deepEqual([part.status, part.text, part.headers["Content-Range"]], [206, "234", "bytes 2-4/10"]);
  t.is(get(rig, "&size=4&chunk=1", { range: "bytes=1-" }).text, "567");
  t.is(get(rig, "", { range: "bytes=-3" }).text, "789");
  t.is(get(rig, "", { range: "bytes=10-" }).status, 416);
  t.is(get(rig, "", { range: "items=0-1" }).status, 416);
});
