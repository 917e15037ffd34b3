// A device that runs on XS: its images hold agent and application, its files are those of the Node host, and each start is a new engine.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UNFENCED } from "../../../hosts/node/files.js";
import { createHost, type NodeHost } from "../../../hosts/node/host.js";
import type { AgentOptions } from "../../../src/index.js";
import { prepareStart } from "../../../tools/run/boot-loader.js";
import { flash } from "../../../tools/run/slot-images.js";
import { Bridge } from "./bridge.js";
import { bundle, constantsOf } from "./bundle.js";

/** The version that images are built with: a build takes seconds, and another version is another text in it. */
const BUILT = "0.0.0-built";

/** The script of a firmware image; `lean`: with the agent that takes no updates. */
export const buildImage = async (version: string, lean = false): Promise<string> => {
  const define = { VERSION: JSON.stringify(BUILT), LEAN: String(lean) };
  const code = await bundle('import "./test/xs/guest/image.ts";', define, lean);
  return code.replaceAll(BUILT, version);
};

export class XsDevice {
  /** Where a test may put files of its own: gone with the device. */
  readonly directory = mkdtempSync(join(tmpdir(), "mote-xs-"));
  /** `level: line` of every line that the agent logged. */
  readonly lines: string[] = [];
  /** What went wrong outside the agent: exceptions that nobody caught, starts that failed. */
  readonly failures: string[] = [];
  /** Slot and state of the image at each start. */
  readonly starts: string[] = [];
  readonly #stateDir = join(this.directory, "state");
  readonly #options: AgentOptions;
  readonly #intervalMs: number;
  readonly #died = new AbortController();
  #timestamps: "device" | "platform" = "device";
  #host: NodeHost | undefined;
  #bridge: Bridge | undefined;
  #last: Promise<void> = Promise.resolve();

  constructor(image: string, intervalMs: number, options: AgentOptions) {
    this.#options = options;
    this.#intervalMs = intervalMs;
    flash(this.#stateDir, Buffer.from(image), UNFENCED);
  }

  /** Aborted when its engine is gone without being ended here: nothing more comes from the device. */
  get died(): AbortSignal {
    return this.#died.signal;
  }

  start(timestamps: "device" | "platform"): void {
    this.#timestamps = timestamps;
    this.#then(() => this.#start());
  }

  /** In good order: what waits is sent first. */
  stop(): Promise<void> {
    return this.#then(async () => {
      await this.#bridge?.run("image.stop()");
      await this.#end();
    });
  }

  /** Ends it as it is, and removes its files. */
  async remove(): Promise<void> {
    await this.#then(() => this.#end());
    rmSync(this.directory, { recursive: true, force: true });
  }

  /** Writes a file for the test and returns its path. */
  put(name: string, text: string): string {
    const path = join(this.directory, name);
    writeFileSync(path, text);
    return path;
  }

  /** One after the other, whoever asked. */
  #then(work: () => Promise<void>): Promise<void> {
    this.#last = this.#last.then(work).catch((error) => void this.failures.push(String(error)));
    return this.#last;
  }

  async #start(): Promise<void> {
    const start = prepareStart(this.#stateDir, UNFENCED, (slot, why) =>
      this.failures.push(`image ${slot} ${why}`),
    );
    if (start === undefined) throw new Error("no image to start");
    this.starts.push(`${start.slot} ${start.state}`);
    const host = createHost({
      stateDir: this.#stateDir,
      blocksBytes: 16 * 4096,
      log: (level, line) => void this.lines.push(`${level}: ${line}`),
      restart: () => this.#restart(host),
    });
    this.#host = host;
    const image = readFileSync(start.path, "utf8");
    this.#bridge = await Bridge.start(host, {
      entrySlots: constantsOf(image),
      died: (error) => {
        this.failures.push(String(error));
        this.#died.abort(error);
      },
    });
    await this.#bridge.run(`${image};undefined`);
    const options = { ...this.#options, telemetry: { timestamps: this.#timestamps } };
    await this.#bridge.run(`image.start(${JSON.stringify(options)}, ${this.#intervalMs})`);
  }

  /** What a board does: whatever runs ends here. */
  #restart(host: NodeHost): void {
    this.#then(async () => {
      if (host !== this.#host) return;
      await this.#end();
      await this.#start();
    });
  }

  async #end(): Promise<void> {
    const [bridge, host] = [this.#bridge, this.#host];
    this.#bridge = undefined;
    this.#host = undefined;
    try {
      await bridge?.close();
    } finally {
      host?.close();
    }
  }
}
