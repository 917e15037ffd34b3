// One device: telemetry, attributes, RPC, log, firmware.
import { ago } from "../../duration.js";
import { OperatorError } from "../../operator/error.js";
import type { Device, Reading } from "../../operator/shapes.js";
import { openAccess } from "../access.js";
import { deleteDevice } from "../devices.js";
import { type Context, html, type Page, type TemplateResult } from "../ui.js";
import { Attributes } from "./attributes.js";
import { Firmware } from "./firmware.js";
import { Log } from "./log.js";
import type { Part, Place } from "./part.js";
import { Rpc } from "./rpc.js";
import { Telemetry } from "./telemetry.js";

/** Silence after which a device is inactive. */
const INACTIVE_MS = 600_000;

export class DevicePage implements Page {
  readonly #context: Context;
  readonly #id: string;
  readonly #parts: readonly Part[];
  #device: Device | undefined;
  #latest: Readonly<Record<string, Reading>> = {};
  #lastSeen: number | undefined;
  #isMissing = false;

  constructor(context: Context, id: string) {
    this.#context = context;
    this.#id = id;
    const page = this;
    const place: Place = {
      ...{ ...context, id },
      get latest() {
        return page.#latest;
      },
      get device() {
        return page.#device!;
      },
    };
    const own = [new Telemetry(place), new Attributes(place), new Rpc(place), new Log(place)];
    this.#parts = context.session.isTenant ? [...own, new Firmware(place)] : own;
  }

  get title(): string {
    return this.#isMissing ? "Device not found" : (this.#device?.name ?? "Device");
  }

  async read(): Promise<void> {
    const { devices, timeSeries, attributes } = this.#context.session.operator;
    try {
      this.#device = await devices.get(this.#id);
      this.#latest = await timeSeries.latest(this.#id);
      const { lastActivityTime } = await attributes.get(this.#id, "SERVER_SCOPE", ["lastActivityTime"]);
      this.#lastSeen = typeof lastActivityTime === "number" ? lastActivityTime : undefined;
      await Promise.all(this.#parts.map((part) => part.read?.()));
      this.#isMissing = false;
    } catch (error) {
      this.#isMissing = error instanceof OperatorError && [400, 404].includes(error.status);
      if (!this.#isMissing) throw error;
    }
  }

  view(): TemplateResult {
    const device = this.#isMissing ? undefined : this.#device;
    return html`<div class="head">
        <h1 tabindex="-1">${this.title}</h1>
        ${device ? this.#state(device) : ""}
      </div>
      ${this.#isMissing ? MISSING : ""}
      <div class="parts">
        ${device ? this.#parts.map((part) => section(part)) : ""}
      </div>`;
  }

  drawn(): void {
    if (this.#device && !this.#isMissing) for (const part of this.#parts) part.drawn?.();
  }

  #state(device: Device): TemplateResult {
    const { session } = this.#context;
    const { name } = device;
    const isActive = this.#lastSeen !== undefined && Date.now() - this.#lastSeen < INACTIVE_MS;
    const seen =
      this.#lastSeen === undefined
        ? "never seen"
        : `${isActive ? "active" : "inactive"}, ${ago(this.#lastSeen)}`;
    const remove = async (): Promise<void> => {
      if (await deleteDevice(this.#context, { id: this.#id, name })) location.hash = "#/";
    };
    const buttons = html`<button class="second" @click=${() => openAccess(this.#context, device, `Connect ${name}`)}>Connect</button>
      <button class="second" @click=${remove}>Delete device</button>`;
    return html`<span class="quiet">${typeof device.label === "string" ? device.label : ""}</span>
      <span class="dot ${isActive ? "on" : ""}">${seen}</span>
      ${session.isTenant ? buttons : ""}`;
  }
}

const MISSING = html`<p>
  The device was deleted, or the platform was restarted without its state. <a href="#/">All devices</a>
</p>`;

const section = (part: Part): TemplateResult =>
  html`<section class="card ${part.isWide ? "wide" : ""}" aria-label=${part.title}>
    <h2>${part.title}</h2>
    ${part.view()}
  </section>`;
