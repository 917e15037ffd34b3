// `mote sign`, against openssl where there is one.
import { spawnSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import test from "ava";
import { isSignedBy, toPublicKey, toSignature } from "../../../src/wire/crypto/p256.js";
import { temporaryState } from "../run/session.js";
import { killAll, mote } from "./commands.js";

test.after.always(killAll);

const IMAGE = Buffer.from("an image");
const rest = (): Promise<void> => Promise.resolve();

async function holds(key: string, signature: string): Promise<boolean> {
  const [point, pair] = [toPublicKey(key), toSignature(signature)];
  const digest = createHash("sha256").update(IMAGE).digest("hex");
  return point !== undefined && pair !== undefined && isSignedBy(point, digest, pair, rest);
}

function files(t: Parameters<typeof temporaryState>[0], namedCurve = "P-256"): { key: string; file: string } {
  const directory = temporaryState(t);
  const [key, file] = [join(directory, "key.pem"), join(directory, "image.bin")];
  const { privateKey } = generateKeyPairSync("ec", { namedCurve });
  writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(file, IMAGE);
  return { key, file };
}

test.serial("sign prints the attribute and the key, which a device accepts", async (t) => {
  const { key, file } = files(t);
  const { code, out } = await mote(["sign", "--key", key, file]);
  t.is(code, 0);
  const [, signature = "", publicKey = ""] =
    /^fw_signature ([0-9a-f]+)\npublicKey {4}([0-9a-f]+)\n$/.exec(out) ?? [];
  t.true(await holds(publicKey, signature));
});

test.serial("the lines of its help do the same by openssl alone", async (t) => {
  if (spawnSync("openssl", ["version"]).status !== 0) return t.pass();
  const { key, file } = files(t);
  const { out } = await mote(["sign", "--help"]);
  const [, first = "", second = ""] = /(openssl dgst.*)\n\s*(openssl pkey.*)/.exec(out) ?? [];
  const shell = (line: string): string =>
    spawnSync("sh", ["-c", line.replace("key.pem", key).replace("FILE", file)])
      .stdout.toString()
      .trim();
  const signature = /([0-9a-f]+)$/.exec(shell(first))?.[1] ?? "";
  t.true(await holds(shell(second), signature));
});

test.serial("another curve's key, no key and no file are wrong usage, and quote nothing", async (t) => {
  const { key, file } = files(t);
  const wrong = files(t, "P-384");
  for (const [args, expected] of [
    [["sign", "--key", wrong.key, file], /holds no private key of P-256/],
    [["sign", "--key", file, file], /holds no private key of P-256/],
    [["sign", "--key", key, `${file}.none`], /can't be read \(ENOENT\)/],
    [["sign", file], /required option '--key <file>'/],
  ] as const) {
    const { code, err, out } = await mote([...args]);
    t.is(code, 2);
    t.regex(err, expected);
    t.is(out, "");
  }
});
