import type { Device, Reading } from "../../operator/shapes.js";
import type { Context, TemplateResult } from "../ui.js";

/** What the sections of a device's page share. */
export interface Place extends Context {
  readonly id: string;
  /** The newest reading of each key. */
  readonly latest: Readonly<Record<string, Reading>>;
  readonly device: Device;
}

/** A section of a device's page. */
export interface Part {
  readonly title: string;
  readonly isWide?: boolean;
  /** Called after the page has read device and latest values. */
  read?(): Promise<void>;
  view(): TemplateResult;
  drawn?(): void;
}
