import { execFileSync } from "node:child_process";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "ava";
import { refusePrivateKeys } from "../../../tools/moddable/private-keys.js";
import { SdkError } from "../../../tools/moddable/sdk.js";

const place = mkdtempSync(join(tmpdir(), "mote-keys-"));
test.after.always(() => rmSync(place, { recursive: true, force: true }));

const LOCK = { cipher: "aes-256-cbc", passphrase: "secret" };
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const pem = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1", lock = {}) =>
  key.export({ format: "pem", type, ...lock } as { format: "pem"; type: "pkcs8" });
const der = (key: KeyObject, type: "pkcs8" | "sec1" | "pkcs1", lock = {}) =>
  key.export({ format: "der", type, ...lock } as { format: "der"; type: "pkcs8" });

const KEYS: Readonly<Record<string, string | Buffer>> = {
  "empty.key": "",
  "store.P12": "",
  "ec.pem": pem(ec.privateKey, "sec1"),
  "rsa.txt": `a comment first\n${pem(rsa.privateKey, "pkcs1")}`,
  "eight.crt": pem(rsa.privateKey, "pkcs8"),
  "locked.pem": pem(ec.privateKey, "pkcs8", LOCK),
  "ec.der": der(ec.privateKey, "sec1"),
  "rsa.der": der(rsa.privateKey, "pkcs1"),
  "with a space.der": der(ec.privateKey, "pkcs8"),
  "locked.bin": der(ec.privateKey, "pkcs8", LOCK),
};

/** What the SDK's makefile says of resources that are these files. */
function makefileOf(
  directory: "DATA" | "RESOURCES",
  files: Readonly<Record<string, string | Buffer>>,
): string {
  const rules = Object.entries(files).map(([name, content]) => {
    const path = join(place, name);
    writeFileSync(path, content);
    return `$(${directory}_DIR)/${name}: ${path}\n\tcp $< $@\n`;
  });
  const makefile = join(place, "makefile");
  writeFileSync(makefile, `${rules.join("")}$(RESOURCES_DIR)/locals.mhi: $(HEADERS)\n`);
  return makefile;
}

for (const [name, content] of Object.entries(KEYS)) {
  test.serial(`a private key as ${name} is refused by its path, as data and as a resource`, (t) => {
    for (const directory of ["DATA", "RESOURCES"] as const) {
      const makefile = makefileOf(directory, { [name]: content });
      const error = t.throws(() => refusePrivateKeys(makefile), { instanceOf: SdkError });
      t.true(error?.message.includes(join(place, name)), error?.message);
    }
  });
}

test.serial("certificates, public keys and other bytes that begin like a key are no private keys", (t) => {
  const key = join(place, "own");
  writeFileSync(key, pem(ec.privateKey, "pkcs8"));
  const words = ["req", "-x509", "-new", "-key", key, "-subj", "/CN=root", "-days", "30"];
  const certificate = execFileSync("openssl", [...words, "-outform", "DER"], { stdio: "pipe" });
  const files = {
    "ca.der": certificate,
    "ca.pem": execFileSync("openssl", words, { stdio: "pipe" }),
    "public.der": ec.publicKey.export({ format: "der", type: "spki" }),
    "zero.bin": Buffer.from([0x30, 0]),
    "keyboard.txt": "PRIVATE KEY",
  };
  t.notThrows(() => refusePrivateKeys(makefileOf("DATA", files)));
});
