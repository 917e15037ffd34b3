import type { Files } from "embedded:storage/files";
import { readWhole } from "./files.js";
import type { SimulatorSettings } from "./settings.js";

/** Throws without settings: the program was not started by its supervisor. */
export const readSettings = (files: Files): SimulatorSettings => {
  const bytes = readWhole(files, "settings.json");
  if (!bytes) throw new Error("settings.json is missing: the supervisor writes it (npm run simulator)");
  return JSON.parse(String.fromArrayBuffer(bytes.buffer as ArrayBuffer));
};
