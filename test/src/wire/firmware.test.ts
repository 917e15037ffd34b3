import test from "ava";
import { parseAttributes } from "../../../src/wire/attributes.js";
import { type Assigned, type Assignment, imageKey, parseAssignment } from "../../../src/wire/firmware.js";
import type { JsonObject } from "../../../src/wire/text/json.js";
import { fixture } from "./support.js";

const STORED: JsonObject = {
  fw_title: "greenhouse",
  fw_version: "2.0.0",
  fw_size: 123456,
  fw_checksum_algorithm: "MD5",
  fw_checksum: "5D41402ABC4B2A76B9719D911017C592",
};

const read = (name: string): Assigned => {
  const attributes = parseAttributes(fixture(name));
  return parseAssignment(attributes.ok ? attributes.shared : {});
};

test("a stored package is read with all it needs", (t) => {
  t.deepEqual(read("attributes-firmware"), {
    kind: "assigned",
    assignment: {
      title: "greenhouse",
      version: "2",
      tag: "greenhouse 2",
      url: undefined,
      size: 123456,
      algorithm: "CRC32",
      checksum: "86a61036",
      signature: undefined,
    },
  });
  t.like(parseAssignment(STORED), {
    assignment: { checksum: "5d41402abc4b2a76b9719d911017c592", tag: undefined },
  });
});

test("a package on an external host may lack size and checksum", (t) => {
  t.like(read("attributes-firmware-url"), {
    kind: "assigned",
    assignment: { url: "https://files.example.com/2.0.0.bin", size: undefined, checksum: undefined },
  });
});

test("no key at all is absent, some keys are torn", (t) => {
  t.deepEqual(read("attributes-none"), { kind: "absent" });
  t.deepEqual(read("attributes-both"), { kind: "absent" });
  for (const key of Object.keys(STORED)) {
    const { [key]: _, ...rest } = STORED;
    t.deepEqual(parseAssignment(rest) as unknown, { kind: "torn", missing: key });
  }
  t.is(parseAssignment({ fw_tag: "x" }).kind, "torn");
});

test("a key of the wrong type or size is malformed", (t) => {
  const wrong: readonly JsonObject[] = [
    { fw_title: 5 },
    { fw_title: "" },
    { fw_version: 2 },
    { fw_version: "v".repeat(256) },
    { fw_tag: null },
    { fw_url: ["x"] },
    { fw_size: "123" },
    { fw_size: 0 },
    { fw_size: -1 },
    { fw_size: 1.5 },
    { fw_size: 2 ** 31 },
    { fw_checksum_algorithm: "SHA1" },
    { fw_checksum_algorithm: "constructor" },
    { fw_checksum: "xyz" },
    { fw_checksum: "86a61036" },
    { fw_checksum: { a: 1 } },
  ];
  for (const change of wrong)
    t.is(parseAssignment({ ...STORED, ...change }).kind, "malformed", JSON.stringify(change));
});

test("an image is the same whatever its tag, and another with any other size or version", (t) => {
  const of = (change: JsonObject): Assignment => {
    const assigned = parseAssignment({ ...STORED, ...change });
    if (assigned.kind !== "assigned") throw new Error(assigned.kind);
    return assigned.assignment;
  };
  t.is(imageKey(of({})), imageKey(of({ fw_tag: "x" })));
  t.not(imageKey(of({})), imageKey(of({ fw_size: 5 })));
  t.not(imageKey(of({})), imageKey(of({ fw_version: "2.0.1" })));
});
