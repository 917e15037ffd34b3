// A device played by hand over the device API.
import type { Platform } from "../../../tools/platform/server.js";
import { operatorOf } from "../operator-of.js";

export class ScriptedDevice {
  readonly id: string;
  readonly #base: string;
  #ended = false;

  private constructor(id: string, base: string) {
    this.id = id;
    this.#base = base;
  }

  static async create(platform: Platform, name: string): Promise<ScriptedDevice> {
    const operator = await operatorOf(platform);
    const token = `token-${Math.random()}`;
    const { id } = await operator.devices.create({ name }, token);
    return new ScriptedDevice(id.id, `${platform.url}/api/v1/${token}/`);
  }

  async send(path: string, body: unknown): Promise<void> {
    await fetch(this.#base + path, { method: "POST", body: JSON.stringify(body) });
  }

  async get(path: string): Promise<Record<string, unknown>> {
    return (await (await fetch(this.#base + path)).json()) as Record<string, unknown>;
  }

  /** Answers each RPC until `end`. */
  async answer(answer: (method: string, params: unknown) => unknown): Promise<void> {
    while (!this.#ended) {
      const response = await fetch(`${this.#base}rpc?timeout=1000`).catch(() => undefined);
      if (response?.status !== 200) continue;
      // Another test's fault may answer with a page.
      const request = (await response.json().catch(() => undefined)) as
        | { id: number; method: string; params: unknown }
        | undefined;
      if (!request) continue;
      const { id, method, params } = request;
      await this.send(`rpc/${id}`, answer(method, params));
    }
  }

  end(): void {
    this.#ended = true;
  }
}
