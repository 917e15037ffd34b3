// Devices that take only what their maker signed, whoever holds the platform.
import { generateKeyPairSync, sign } from "node:crypto";
import test from "ava";
import { MARK } from "../../../../../extras/trust/announcement.js";
import { Agent, MoteError } from "../../../../../src/index.js";
import { signImage } from "../../../../../tools/cli/commands/sign.js";
import { FakeClock } from "../../../../fakes/clock.js";
import { fakeHost } from "../../../../fakes/host.js";
import { Lamp } from "./lamp.js";
import { each, failed, SIZE, stays, UPDATED } from "./reported.js";

const maker = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const other = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
const { publicKey } = signImage(maker, new Uint8Array());

/** A lamp that asks for signatures, with its second version assigned, signed as `by` says. */
function signedLamp(shape: object, by: typeof maker | undefined, algorithm?: "MD5"): Lamp {
  const lamp = new Lamp({ ...shape, firmware: { publicKey } });
  const image = lamp.image("2.0.0", SIZE);
  if (by) lamp.platform.setShared(lamp.device, { fw_signature: signImage(by, image).signature });
  lamp.assign(lamp.package("2.0.0", image, algorithm && { algorithm }));
  return lamp;
}

each("an image that its maker signed is taken", async (t, shape) => {
  const lamp = signedLamp(shape, maker);
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("the SHA-256 is what is signed, whatever the checksum is", async (t, shape) => {
  const lamp = signedLamp(shape, maker, "MD5");
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, UPDATED);
});

each("an image without a signature is refused before a byte is fetched", async (t, shape) => {
  const lamp = signedLamp(shape, undefined);
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, failed("the image has no signature (fw_signature)"));
  await stays(t, lamp, 0);
});

for (const algorithm of [undefined, "MD5"] as const) {
  each(
    `an image that somebody else signed gets no header, and is not tried again (${algorithm ?? "SHA256"})`,
    async (t, shape) => {
      const lamp = signedLamp(shape, other, algorithm);
      await lamp.untilState("UPDATED", "FAILED");
      t.deepEqual(lamp.shown, failed("the signature is not that of this device's key"));
      t.true(lamp.machine.slots[1].bytes.subarray(0, 32).every((byte) => byte === 0xff));
      t.false(lamp.machine.operations.some((name) => name.startsWith("write 0+")));
      await stays(t, lamp);
    },
  );
}

for (const algorithm of [undefined, "MD5"] as const)
  each(
    `an announcement of CAs signed with the firmware key is refused as an image (${algorithm ?? "SHA256"})`,
    async (t, shape) => {
      const lamp = new Lamp({ ...shape, firmware: { publicKey } });
      const text = Buffer.from(`${MARK}1795000000\ndrop old\n`.padEnd(SIZE, "\n"));
      lamp.images.set("2.0.0", text);
      // As `openssl dgst -sign` does: `mote sign` refuses it.
      const signature = sign("sha256", text, maker).toString("hex");
      lamp.platform.setShared(lamp.device, { fw_signature: signature });
      lamp.assign(lamp.package("2.0.0", text, algorithm && { algorithm }));
      await lamp.untilState("UPDATED", "FAILED");
      t.deepEqual(lamp.shown, failed("the signature is not that of this device's key"));
      await stays(t, lamp);
    },
  );

test("bytes without the mark of a statement are not signed, whoever signed them", async (t) => {
  const clock = new FakeClock();
  const agent = new Agent(fakeHost({ clock }), {
    baseUrl: "https://p.test",
    token: "T",
    firmware: { title: "lamp", version: "1.0.0", publicKey },
  });
  for (const [text, isSigned] of [
    [`${MARK}1\n`, true],
    [`lamp ${MARK}`, false],
    [MARK.slice(1), false],
    ["", false],
  ] as const) {
    const bytes = new Uint8Array(Buffer.from(text));
    const signature = sign("sha256", bytes, maker).toString("hex");
    let found: boolean | undefined;
    void agent.firmware.isSigned(bytes, signature).then((answer) => {
      found = answer;
    });
    await clock.runUntil(() => found !== undefined);
    t.is(found, isSigned, JSON.stringify(text));
  }
});

test("a signature that comes after the image was refused is a new assignment", async (t) => {
  const lamp = signedLamp({}, undefined);
  await lamp.untilState("FAILED");
  const image = lamp.images.get("2.0.0") as Uint8Array;
  lamp.platform.setShared(lamp.device, { fw_signature: signImage(other, image).signature });
  await lamp.until(() => lamp.latest("fw_error") === "the signature is not that of this device's key");
  lamp.platform.setShared(lamp.device, { fw_signature: signImage(maker, image).signature });
  await lamp.untilState("UPDATED");
  t.deepEqual(lamp.booted, ["1.0.0", "2.0.0"]);
});

test("what is no signature at all is reported as such", async (t) => {
  for (const value of ["yes", "3006020101020100", 5, true]) {
    const lamp = signedLamp({}, undefined);
    lamp.platform.setShared(lamp.device, { fw_signature: value });
    await lamp.untilState("FAILED", "UPDATED");
    t.regex(String(lamp.latest("fw_error")), /^the assignment makes no sense \(fw_signature is no /);
  }
});

test("a signature that is left when the package is withdrawn is no assignment", async (t) => {
  const lamp = signedLamp({}, maker);
  await lamp.untilState("UPDATED");
  lamp.assign(undefined);
  await lamp.pass(120_000);
  t.deepEqual(lamp.shown, UPDATED);
});

test("over http a signed image is taken, an unsigned one is not", async (t) => {
  const agent = { baseUrl: "http://platform.test" };
  const signed = signedLamp({ agent }, maker);
  await signed.untilState("UPDATED", "FAILED");
  t.deepEqual(signed.shown, UPDATED);
  const lamp = new Lamp({ agent });
  lamp.release("2.0.0", SIZE);
  await lamp.untilState("UPDATED", "FAILED");
  t.deepEqual(lamp.shown, failed("no update over http without a signature or allowHttp"));
});

test("a key that is none is reported when the agent is made", (t) => {
  for (const wrong of ["", "04", publicKey.slice(2), `${publicKey}00`, 5]) {
    const firmware = { title: "lamp", version: "1.0.0", publicKey: wrong as string };
    const error = t.throws(() => new Agent(fakeHost(), { baseUrl: "https://p.test", token: "T", firmware }));
    t.true(error instanceof MoteError && /firmware\.publicKey is a point/.test(error.message));
  }
});
