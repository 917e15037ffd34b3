import { Child, type ChildEvent } from "./processes.js";

export interface AgentRunOptions {
  url: string;
  deviceName: string;
  stateDir: string;
  /** The first firmware image. */
  image: string;
  /** Between two points, in milliseconds. */
  intervalMs: number;
  /** The provisioning key and secret, for the child's environment. */
  env: Record<string, string>;
  onEvent: (event: ChildEvent) => void;
}

/** `mote run` as a child that can be started again on the same state. */
export class AgentRun {
  readonly #options: AgentRunOptions;
  #child: Child | undefined;

  constructor(options: AgentRunOptions) {
    this.#options = options;
  }

  /** Starts it, and returns the process. */
  start(timestamps: "device" | "platform" = "device"): Child {
    const { url, deviceName, stateDir, image, intervalMs, env, onEvent } = this.#options;
    const args = ["run", "--url", url, "--device-name", deviceName, "--state", stateDir, "--app", image];
    args.push("--interval", `${intervalMs}ms`, "--timestamps", timestamps, "--json");
    this.#child = new Child(args, env, onEvent);
    return this.#child;
  }

  get lastStderrLine(): string {
    return this.#child?.lastStderrLine ?? "";
  }

  async stop(): Promise<void> {
    await this.#child?.stop();
  }
}
