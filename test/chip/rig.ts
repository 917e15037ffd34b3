// An emulated board beside a local platform, in one process. Images are built once for each set of
// settings, and kept.
import { createHash, generateKeyPairSync, X509Certificate } from "node:crypto";
import { once } from "node:events";
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Server as TlsServer } from "node:tls";
import { plainTarget } from "../../tools/moddable/esp32/chips.js";
import { type BuildOptions, buildImage, type Image } from "../../tools/moddable/esp32/esp32.js";
import { partsOf, writeFlash } from "../../tools/moddable/esp32/flash-image.js";
import { findSdk, type Sdk } from "../../tools/moddable/sdk.js";
import { Operator } from "../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../tools/platform/server.js";
import { PROJECT } from "../../tools/project.js";
import { argument } from "../arguments.js";
import { buildBoards } from "../built.js";
import { tlsFront } from "../hosts/device/tls-front.js";
import { bundleForXs } from "../hosts/simulator/bundle.js";
import { Authorities } from "../x509/authority.js";
import { CHIP, keptAt } from "./chip.js";
import { EmulatedBoard, HOST_ADDRESS } from "./emulator.js";

export const TITLE = "chip";
export const DEVICE = "chip-1";
/** Built into the images, so it stays the same. */
export const PORT = Number(argument("port") ?? 18_093);
export const SECURE_PORT = PORT + 1;
export const PROFILE = { key: "chip-key", secret: "chip-secret" };
const LOOK_MS = 200;
const GUEST = "dist/test/chip/guest.js";

/** Programs, and the folders that hold their manifest and main.js. */
const PROGRAMS = {
  app: "test/chip/app",
  "log-app": "test/chip/log-app",
  "port-app": "test/chip/port-app",
  "station-app": "test/chip/station-app",
  bench: "bench/chip/mote-program",
  "bench-js": "bench/chip/js-program",
} as const;
export type Program = keyof typeof PROGRAMS;

export interface Settings {
  /** The program. Default: app, the sample application with ways to fail. */
  readonly program?: Program;
  readonly version?: string;
  readonly timestamps?: "device" | "platform";
  /** Between two numbered points, in ms; none without. */
  readonly numbered?: number;
  readonly fault?: "throw" | "panic" | "hang";
  /** A platform that is nowhere. */
  readonly lost?: boolean;
  /** Over TLS, by an authority of the tests. */
  readonly secure?: boolean;
  /** Nothing built in that its owner gives; or all but the Wi-Fi. */
  readonly bare?: boolean | "but the Wi-Fi";
  /** `creation.static`, in place of the chip's. */
  readonly engine?: number;
  /** With encrypted flash and NVS, and secure boot. */
  readonly guarded?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
}

export const urlOf = ({ lost, secure }: Settings): string =>
  secure ? `https://${HOST_ADDRESS}:${SECURE_PORT}` : `http://${HOST_ADDRESS}:${lost ? 9 : PORT}`;

const configOf = (settings: Settings) => ({
  ...configFor(settings),
  ...(settings.bare === "but the Wi-Fi" && { wifi: undefined }),
  ...(settings.bare === true
    ? { wifi: undefined, provisioning: { deviceName: DEVICE } }
    : { baseUrl: urlOf(settings) }),
  ...(settings.secure && { ca: "ca.der" }),
});

const configFor = ({ version = "1.0.0", timestamps = "device", numbered, fault, more }: Settings) => ({
  wifi: { ssid: "emulator" },
  provisioning: { ...PROFILE, deviceName: DEVICE },
  firmware: { title: TITLE, version, allowHttp: true, trialMs: 5000 },
  telemetry: { timestamps },
  intervalMs: 1000,
  // Power losses in quick succession are no owner who asks for recovery.
  powerCycles: false,
  connections: 3,
  ...(numbered !== undefined && { numbered }),
  ...(fault !== undefined && { fault }),
  ...more,
});

/**
 * The image of the test application with these settings: built once, kept until a source or a
 * setting changes.
 */
export async function imageOf(settings: Settings = {}, sdk: Sdk = findSdk()): Promise<Image> {
  await buildBoards();
  if (settings.program === "port-app") await bundleForXs("test/chip/port-app/guest.ts", GUEST);
  const config = configOf(settings);
  const key = createHash("sha256")
    .update(
      JSON.stringify([
        ...[config, settings.program, settings.engine, settings.secure && authority().ca],
        settings.guarded && readFileSync(signingKey(), "utf8"),
      ]),
    )
    .update(sourcesOf(settings))
    .digest("hex")
    .slice(0, 16);
  const kept = keptAt("images", key);
  if (existsSync(join(kept, "flash_args"))) return { directory: kept, folder: kept, chip: CHIP.name };
  // Cases may run side by side; the folder of a build is one.
  mkdirSync(keptAt(), { recursive: true });
  const turn = await takeTurn();
  try {
    const how: BuildOptions = {
      sdk,
      folder: project(settings),
      target: plainTarget(CHIP.name),
      debug: false,
      megabytes: 4,
      emulated: true,
      config,
      // Compiled with the SDK's own flags: objects go by the age of their sources.
      out: keptAt(
        settings.guarded ? "build-guarded" : settings.program === "bench-js" ? "build-js" : "build",
      ),
      ...(settings.guarded && { encrypt: "development", secureBoot: signingKey() }),
    };
    const image = await buildImage(how);
    rmSync(kept, { recursive: true, force: true });
    for (const { file } of partsOf(image)) cpSync(file, join(kept, file.slice(image.folder.length)));
    for (const name of ["xs_esp32.elf", "flash_args"]) cpSync(join(image.folder, name), join(kept, name));
  } finally {
    turn.close();
  }
  return { directory: kept, folder: kept, chip: CHIP.name };
}

/**
 * Waits until no other case builds. The socket's name is free again as soon as its process ends,
 * however that ends.
 */
async function takeTurn(): Promise<Server> {
  const path = `\0mote-chip-build ${keptAt()}`;
  for (;;) {
    const server = createServer();
    const taken = once(server, "listening").then(
      () => true,
      () => false,
    );
    server.listen(path);
    if (await taken) return server;
    await setTimeout(LOOK_MS);
  }
}

/** A project around the test application, with what only a manifest can say. */
function project({ program = "app", engine, secure }: Settings): string {
  const folder = keptAt("project", "app");
  mkdirSync(folder, { recursive: true });
  const name = program === "bench-js" && secure ? "manifest-tls.json" : "manifest.json";
  const app = join(PROJECT, PROGRAMS[program], name);
  if (secure) writeFileSync(join(folder, "ca.der"), new X509Certificate(authority().ca).raw);
  const manifest = {
    include: [app],
    ...(engine !== undefined && { creation: { static: engine } }),
    ...(secure && { data: { "*": "./ca.der" } }),
  };
  writeFileSync(join(folder, "manifest.json"), JSON.stringify(manifest));
  return folder;
}

/** Made once, as `espsecure generate-signing-key --version 2` makes it. */
function signingKey(): string {
  const file = keptAt("secure-boot.pem");
  if (existsSync(file)) return file;
  mkdirSync(keptAt(), { recursive: true });
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 3072 });
  writeFileSync(file, privateKey.export({ type: "pkcs1", format: "pem" }), { mode: 0o600 });
  return file;
}

export interface Authority {
  readonly ca: string;
  readonly caKey: string;
  readonly cert: string;
  readonly key: string;
}

/** Made once: its certificate is built into images. */
export function authority(): Authority {
  const folder = join(PROJECT, "build", "chip");
  const file = join(folder, "authority-2.json");
  if (!existsSync(file)) {
    const made = new Authorities();
    const root = made.issue("root", undefined, { constraints: "critical,CA:TRUE" });
    const { cert, key } = made.issue("platform", root, { names: `IP:${HOST_ADDRESS}` });
    made.remove();
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, JSON.stringify({ ca: root.cert, caKey: root.key, cert, key }));
  }
  return JSON.parse(readFileSync(file, "utf8"));
}

/** Of what a board's image is made, beside its program: folders, and a file. */
const PARTS_OF_A_BOARD = ["hosts", "extras", join("dist", "xs"), "manifest.json"];
/** Compiled into dist/xs, or never built in. */
const NOT_BUILT_IN = /\.(?:ts|md)$|simulat|tsconfig/;

/** All text that the image with these settings is made of. */
function sourcesOf({ program = "app" }: Settings): string {
  // The SDK's own program has nothing of ours.
  const parts = [PROGRAMS[program], ...(program === "bench-js" ? [] : PARTS_OF_A_BOARD)];
  const files = parts.flatMap((part) => filesOf(join(PROJECT, part)));
  if (program === "port-app") files.push(join(PROJECT, GUEST));
  return files.map((file) => readFileSync(file, "utf8")).join("\n");
}

function filesOf(path: string): string[] {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((name) => !NOT_BUILT_IN.test(name))
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}

export const application = (image: Image): Buffer => readFileSync(join(image.folder, "xs_esp32.bin"));

/** A board that is switched on and off. What it prints is kept, of all its runs. */
export class Board {
  readonly flash: string;
  readonly lines: string[] = [];
  readonly #more: readonly string[];
  readonly #again: boolean;
  #board: EmulatedBoard | undefined;
  #failure: string | undefined;
  /** Called with what the serial line sends, as it comes. */
  onBytes: (bytes: Uint8Array) => void = () => {};
  /** Starts since it was made: by power, and by itself. */
  starts = 0;

  /** `again`: on once more when the emulator ends by itself, as a chip that restarts. */
  constructor(flash: string, more: readonly string[] = [], again = true) {
    this.flash = flash;
    this.#more = more;
    this.#again = again;
    mkdirSync(join(flash, ".."), { recursive: true });
    rmSync(`${flash}.log`, { force: true });
  }

  /** By cable: the program changes, what the device stored stays. */
  write(image: Image): void {
    writeFlash(image, this.flash, 4);
  }

  on(): void {
    this.starts++;
    this.#heard(`-- power on, start ${this.starts}`);
    const board = new EmulatedBoard({
      chip: CHIP.name,
      flash: this.flash,
      more: this.#more,
      line: (text) => this.#heard(text),
      bytes: (bytes) => this.onBytes(bytes),
    });
    this.#board = board;
    void board.off.then((said) => {
      if (said) this.#heard(`emulator: ${said}`);
      if (this.#board !== board) return;
      this.#board = undefined;
      this.#failure = board.failure;
      if (this.#again && board.failure === undefined) this.on();
    });
  }

  /** Beside the flash as well, to be read while a case runs. */
  #heard(text: string): void {
    this.lines.push(text);
    appendFileSync(`${this.flash}.log`, `${text}\n`);
  }

  get isOn(): boolean {
    return this.#board !== undefined;
  }

  /** Bytes by its cable. */
  send(bytes: Uint8Array): void {
    this.#board?.type(bytes);
  }

  /** Takes the power away. */
  async off(): Promise<void> {
    const board = this.#board;
    this.#board = undefined;
    await board?.cut();
  }

  /**
   * Resolves with the first line from `from` on that fits. Rejects after `ms`, with the last lines.
   */
  async line(pattern: RegExp, ms: number, from = 0): Promise<string> {
    const late = Date.now() + ms;
    for (;;) {
      const found = this.lines.slice(from).find((text) => pattern.test(text));
      if (found !== undefined) return found;
      if (this.#failure !== undefined)
        throw new Error(
          `the emulator failed: ${this.#failure}; the last:\n${this.lines.slice(-15).join("\n")}`,
        );
      if (Date.now() > late)
        throw new Error(`no line ${pattern} within ${ms} ms; the last:\n${this.lines.slice(-15).join("\n")}`);
      await setTimeout(100);
    }
  }
}

export interface LocalPlatform {
  readonly platform: Platform;
  readonly operator: Operator;
  readonly url: string;
  /** Before it, by `authority`. */
  readonly tls: TlsServer;
  close(): Promise<void>;
}

/** A platform at one port, and TLS before it at the next. */
export async function openLocalPlatform(): Promise<LocalPlatform> {
  const platform = await startPlatform({ port: PORT, profile: PROFILE, ruleChain: true });
  const operator = new Operator({ url: platform.url });
  const login = (): Promise<void> => operator.login("tenant@thingsboard.org", "tenant");
  // A connection that was kept for the platform of the case before, at the same port, breaks at its
  // first use.
  await login().catch(login);
  const tls = await tlsFront(authority(), PORT, SECURE_PORT);
  const close = async (): Promise<void> => {
    tls.close();
    await platform.close();
  };
  return { platform, operator, url: platform.url, tls, close };
}
