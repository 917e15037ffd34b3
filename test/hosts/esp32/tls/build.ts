// native/tls compiled for this machine with ESP-IDF's own mbedTLS, which is compiled once and kept
// outside the project.
import { execFile } from "node:child_process";
import { createHash, X509Certificate } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../..", import.meta.url));
const NATIVE = join(root, "hosts/esp32/native/tls");
const HERE = join(root, "test/hosts/esp32/tls");
/** What only a board has. */
const BOARD = ["mote_tls_esp32.c", "mote_tls_module.c"];
const SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-omit-frame-pointer"];
/** As sdkconfig.defaults has it: what a connection takes is nearly a board's. */
const CONFIGURED = ["-DMBEDTLS_SSL_OUT_CONTENT_LEN=2048"];
const FLAGS = [...SANITIZED, ...CONFIGURED];
const WRAPPED = ["malloc", "calloc", "strdup", "mote_tls_connection_step"];

const mbedtls = process.env.IDF_PATH && join(process.env.IDF_PATH, "components/mbedtls/mbedtls");

/** Why it can't be built, or undefined. */
export const missing = (): string | undefined =>
  mbedtls && existsSync(join(mbedtls, "tf-psa-crypto/include"))
    ? undefined
    : "ESP-IDF is missing: $IDF_PATH is not set";

const sources = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => name.endsWith(".c"))
    .map((name) => join(folder, name));

const FOLDERS = [
  "library",
  "tf-psa-crypto/core",
  "tf-psa-crypto/drivers/builtin/src",
  "tf-psa-crypto/drivers/p256-m",
  "tf-psa-crypto/drivers/p256-m/p256-m",
];
const INCLUDES = [
  "include",
  "library",
  "tf-psa-crypto/include",
  "tf-psa-crypto/core",
  "tf-psa-crypto/drivers/builtin/include",
  "tf-psa-crypto/drivers/builtin/src",
  "tf-psa-crypto/drivers/p256-m",
];

/** The library, made once for these sources: it takes minutes. */
async function library(from: string): Promise<string> {
  const version = readFileSync(join(from, "include/mbedtls/build_info.h"));
  const key = createHash("sha256").update(from).update(version).update(FLAGS.join()).digest("hex");
  const folder = join(tmpdir(), `mote-mbedtls-${key.slice(0, 12)}`);
  const made = join(folder, "libmbedtls.a");
  if (existsSync(made)) return made;
  mkdirSync(folder, { recursive: true });
  const includes = INCLUDES.map((name) => `-I${join(from, name)}`);
  const objects: string[] = [];
  for (const source of FOLDERS.flatMap((name) => sources(join(from, name)))) {
    const object = join(folder, `${basename(source)}.o`);
    if (!existsSync(object)) {
      await run("gcc", [...FLAGS, "-w", ...includes, "-c", source, "-o", `${object}.new`]);
      renameSync(`${object}.new`, object);
    }
    objects.push(object);
  }
  await run("ar", ["rcs", `${made}.new`, ...objects]);
  renameSync(`${made}.new`, made);
  return made;
}

/**
 * What ESP-IDF's judge by its bundle asks of ESP-IDF. The bundle that would come with an image has
 * nothing in it.
 */
const IDF_HEADERS: Readonly<Record<string, string>> = {
  "sdkconfig.h": "",
  "esp_check.h":
    "#define unlikely(what) (what)\n#define likely(what) (what)\n#define MBEDTLS_ALLOW_PRIVATE_ACCESS\n",
  "esp_log.h":
    "#define ESP_LOGE(...) ((void)TAG)\n#define ESP_LOGW(...) ((void)TAG)\n#define ESP_LOGI(...) ((void)TAG)\n#define ESP_LOGD(...) ((void)TAG)\n",
  "esp_err.h":
    "#pragma once\ntypedef int esp_err_t;\n#define ESP_OK 0\n#define ESP_FAIL -1\n#define ESP_ERR_NO_MEM 0x101\n#define ESP_ERR_INVALID_ARG 0x102\n#define ESP_ERR_INVALID_STATE 0x103\n",
};
const BUNDLE = ["-DCONFIG_MBEDTLS_CERTIFICATE_BUNDLE=1", "-DCONFIG_MBEDTLS_CERTIFICATE_BUNDLE_MAX_CERTS=200"];

/**
 * ESP-IDF's own judge by the bundle, as an object in `folder`, beside the headers that it includes.
 */
async function bundleJudge(from: string, folder: string): Promise<string> {
  for (const [name, text] of Object.entries(IDF_HEADERS)) writeFileSync(join(folder, name), text);
  const object = join(folder, "esp_crt_bundle.o");
  const includes = [...INCLUDES.map((name) => join(from, name)), bundleFolder("include"), folder];
  await run("gcc", [
    ...[...SANITIZED, "-w", "-D_GNU_SOURCE", ...BUNDLE],
    ...includes.map((path) => `-I${path}`),
    ...["-c", bundleFolder("esp_crt_bundle.c"), "-o", object],
  ]);
  return object;
}

const bundleFolder = (name: string): string =>
  join(process.env.IDF_PATH ?? "", "components/mbedtls/esp_crt_bundle", name);

/**
 * A bundle of one authority, as ESP-IDF lays it out: where each one begins, and of each its name
 * and its key.
 */
export function bundleOf(pem: string): Buffer {
  const { raw, publicKey } = new X509Certificate(pem);
  const name = subjectOf(new Uint8Array(raw));
  const key = publicKey.export({ type: "spki", format: "der" });
  const head = Buffer.alloc(8);
  head.writeUInt32LE(4, 0);
  head.writeUInt16LE(name.length, 4);
  head.writeUInt16LE(key.length, 6);
  return Buffer.concat([head, name, key]);
}

/**
 * The subject (DER) of a certificate of version 3: the field after serial, algorithm, issuer and
 * dates.
 */
function subjectOf(der: Uint8Array): Uint8Array {
  const fields = contentsOf(contentsOf(der));
  let at = 0;
  for (let n = 0; n < 5; n++) at += sizeOf(fields.subarray(at));
  return fields.subarray(at, at + sizeOf(fields.subarray(at)));
}

/** Bytes of the DER element at the beginning, and of its tag and length. */
function lengthsOf(der: Uint8Array): { head: number; length: number } {
  const [, first = 0, ...rest] = der.subarray(0, 5);
  if (first < 0x80) return { head: 2, length: first };
  const digits = rest.slice(0, first & 0x7f);
  return { head: 2 + digits.length, length: digits.reduce((sum, digit) => sum * 256 + digit, 0) };
}

const sizeOf = (der: Uint8Array): number => lengthsOf(der).head + lengthsOf(der).length;

const contentsOf = (der: Uint8Array): Uint8Array => der.subarray(lengthsOf(der).head, sizeOf(der));

/** The program of harness.c, in `folder`. */
export async function buildHarness(folder: string): Promise<string> {
  if (!mbedtls) throw new Error(missing());
  const program = join(folder, "harness");
  const judge = await bundleJudge(mbedtls, folder);
  const ours = sources(NATIVE).filter((path) => !BOARD.includes(basename(path)));
  await run("gcc", [
    ...FLAGS,
    ...["-std=gnu17", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror"],
    ...BUNDLE,
    ...[...INCLUDES.map((name) => join(mbedtls, name)), bundleFolder("include"), folder, NATIVE, HERE].map(
      (path) => `-isystem${path}`,
    ),
    ...[...ours, ...sources(HERE), judge],
    await library(mbedtls),
    ...WRAPPED.map((name) => `-Wl,--wrap=${name}`),
    ...["-lpthread", "-o", program],
  ]);
  return program;
}

/**
 * mbedTLS's own: without memory for the hash of the handshake it goes on with 64 bytes of the 48
 * that it has none of (ssl_compute_master looks past what calc_verify returned). The other side
 * refuses what comes of it.
 */
const KNOWN = "interceptor_via_fun:ssl_compute_master\ninterceptor_via_fun:mbedtls_ssl_derive_keys\n";

/** What it prints, line by line. Rejects if a sanitizer found something. */
export async function harness(program: string, ...words: readonly (string | number)[]): Promise<string[]> {
  const known = `${program}.known`;
  writeFileSync(known, KNOWN);
  const env = { ...process.env, ASAN_OPTIONS: `suppressions=${known}` };
  const { stdout } = await run(program, words.map(String), { env, maxBuffer: 1 << 24, timeout: 600_000 });
  return stdout.trimEnd().split("\n");
}
