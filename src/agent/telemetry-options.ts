// The options of telemetry: purpose, unit, default, limits.

export interface TelemetryOptions {
  /**
   * Whose time stamps points have. `device` (default): when they were recorded, to the millisecond, each its own; they wait until the
   * time is known, from the host or from the `Date` of the platform's first answer. `platform`: when they
   * arrived; points of one key then never share a batch, since a batch has one time stamp: of a backlog with the same keys each point is a
   * request of its own. A `ts` given to `record` holds with both.
   */
  timestamps?: "device" | "platform" | undefined;
  /** Most points in one request. Default 50; 1 to 1,000. */
  batchPoints?: number | undefined;
  /** Most bytes in one request; a point that does not fit is refused by `record`. Default 8,192; 512 to 1,048,576. */
  batchBytes?: number | undefined;
  /** How long a point waits for others to share a request with, in ms. Default 1,000; 0 to 3,600,000. */
  batchAgeMs?: number | undefined;
  /** Memory for points waiting, in bytes, taken at once. With blocks it serves until points are on flash, and if the blocks fail. Default 16,384; 1,024 to 16,777,216. */
  bufferBytes?: number | undefined;
  /**
   * Whether a point is in the host's blocks when `record` returns. Default: true if the host has blocks. False with blocks: it is there after
   * 1 s or 4 KiB at the latest, unless it was delivered before; while the blocks are full and `drop` is "newest", 4 KiB wait in memory for room. Without blocks points are in memory only, whatever is said here.
   */
  durable?: boolean | undefined;
  /** Which points go when there is no room: `oldest` (default; with blocks, those of the oldest sector) or `newest` (`record` returns false). */
  drop?: "oldest" | "newest" | undefined;
}

/** The options with nothing left out. */
export interface TelemetrySettings {
  readonly timestamps: "device" | "platform";
  readonly batchPoints: number;
  readonly batchBytes: number;
  readonly batchAgeMs: number;
  readonly bufferBytes: number;
  readonly durable: boolean;
  readonly drop: "oldest" | "newest";
}

interface Range {
  readonly default: number;
  readonly least: number;
  readonly most: number;
}

const RANGES: { readonly [name: string]: Range } = {
  batchPoints: { default: 50, least: 1, most: 1000 },
  batchBytes: { default: 8192, least: 512, most: 1_048_576 },
  batchAgeMs: { default: 1000, least: 0, most: 3_600_000 },
  bufferBytes: { default: 16_384, least: 1024, most: 16_777_216 },
};
const CHOICES: { readonly [name: string]: readonly string[] } = {
  timestamps: ["device", "platform"],
  drop: ["oldest", "newest"],
};

/** Every mistake in `options`, by name; none if they are fine. */
export function checkTelemetryOptions(options: TelemetryOptions): string[] {
  if (typeof options !== "object" || options === null) return ["telemetry is an object of options"];
  const wrong: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    const flaw = value === undefined ? undefined : flawOf(name, value);
    if (flaw !== undefined) wrong.push(flaw);
  }
  return wrong;
}

function flawOf(name: string, value: unknown): string | undefined {
  if (name === "durable") {
    return typeof value === "boolean" ? undefined : "telemetry.durable is true or false";
  }
  const choices = Object.hasOwn(CHOICES, name) ? CHOICES[name] : undefined;
  if (choices) {
    if (choices.includes(value as string)) return undefined;
    return `telemetry.${name} is ${choices.map((choice) => `"${choice}"`).join(" or ")}`;
  }
  const range = Object.hasOwn(RANGES, name) ? RANGES[name] : undefined;
  if (!range) return `there is no option "telemetry.${name}"`;
  if (Number.isInteger(value) && (value as number) >= range.least && (value as number) <= range.most) {
    return undefined;
  }
  return `telemetry.${name} is a whole number from ${range.least} to ${range.most}`;
}

/** `options` with the defaults for what is left out. */
export function telemetrySettings(options: TelemetryOptions): TelemetrySettings {
  return {
    timestamps: options.timestamps ?? "device",
    batchPoints: options.batchPoints ?? RANGES.batchPoints!.default,
    batchBytes: options.batchBytes ?? RANGES.batchBytes!.default,
    batchAgeMs: options.batchAgeMs ?? RANGES.batchAgeMs!.default,
    bufferBytes: options.bufferBytes ?? RANGES.bufferBytes!.default,
    durable: options.durable ?? true,
    drop: options.drop ?? "oldest",
  };
}
