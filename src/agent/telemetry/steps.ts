/**
 * Where the telemetry loop is.
 * - `wait`: until a batch is full or old enough, or somebody wants it all delivered.
 * - `send`: a batch goes out.
 * - `probe`: a point was refused alone; is it for its content?
 * - `report`: drops are reported to the platform.
 */
export type Step = "wait" | "send" | "probe" | "report";
