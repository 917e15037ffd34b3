// Signatures of images, checked on XS with numbers of the engine's own.
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { none } from "../../hosts/none.js";
import { Bridge } from "./engine/bridge.js";
import { testOnXs } from "./engine/on-xs.js";

const ENTRY = `
  import { isSignedBy, toPublicKey, toSignature } from "./src/wire/crypto/p256.ts";
  globalThis.check = (key, digest, signature) =>
    isSignedBy(toPublicKey(key), digest, toSignature(signature), () => Promise.resolve());`;

testOnXs("a signature is checked on XS, and a changed one is found", async (t) => {
  const bridge = await Bridge.start(none, { entry: ENTRY });
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const key = publicKey.export({ type: "spki", format: "der" }).subarray(-65).toString("hex");
  const image = Buffer.from("an image");
  const digest = createHash("sha256").update(image).digest("hex");
  const signature = sign("sha256", image, privateKey).toString("hex");
  const since = performance.now();
  t.true(await bridge.run(`check("${key}", "${digest}", "${signature}")`));
  t.log(`${Math.round(performance.now() - since)} ms on this machine`);
  const other = createHash("sha256").update("another image").digest("hex");
  t.false(await bridge.run(`check("${key}", "${other}", "${signature}")`));
  await bridge.close();
});
