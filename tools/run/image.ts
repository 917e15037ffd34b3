// A firmware image of the Node host: one bundled ES module (it can import Node's own modules, and
// nothing beside it).
//
//   export const firmware = { title: "greenhouse", version: "1.0.0" };
//   export default function (agent, host) {
//     setInterval(() => agent.telemetry.record({ ... }), host.settings.intervalMs);
//   }
//
// The default export is called once, before `agent.start()`. What it throws ends the start like a
// crash.
import { pathToFileURL } from "node:url";
import type { AppHost } from "../../hosts/device/application.js";
import type { Agent, FirmwareOptions } from "../../src/index.js";

export interface Image {
  /** Title and version on the platform, and optional `allow` and `selfTest`. */
  readonly firmware: Pick<FirmwareOptions, "title" | "version"> & Partial<FirmwareOptions>;
  /** Settings of the host come from `--interval`, and `sleeps` from `--cycle`. */
  readonly default: (agent: Agent, host: AppHost) => unknown;
}

/** Not an image: the message says what is missing. */
export class ImageError extends Error {
  override name = "ImageError";
}

/** Evaluates the module. Throws ImageError if it is not an image, or its own error. */
export async function loadImage(path: string): Promise<Image> {
  const module: Partial<Image> = await import(pathToFileURL(path).href).catch((error: unknown) => {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ImageError(`${error.message} (TypeScript has a name that ends in .ts)`, { cause: error });
  });
  const { firmware, default: setUp } = module;
  if (typeof firmware !== "object" || firmware === null) throw new ImageError('it exports no "firmware"');
  for (const name of ["title", "version"] as const) {
    if (typeof firmware[name] !== "string" || firmware[name] === "") {
      throw new ImageError(`its firmware.${name} is not a non-empty string`);
    }
  }
  if (typeof setUp !== "function") throw new ImageError("it exports no default function");
  return { firmware, default: setUp };
}
