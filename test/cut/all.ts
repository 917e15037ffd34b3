// Every case there is, by the name of its file.
import { attributesCuts } from "./attributes.js";
import { cycleCuts } from "./cycle.js";
import { filesCuts } from "./files.js";
import { updates } from "./firmware.js";
import { healthCuts } from "./health.js";
import { outboxCuts } from "./outbox.js";
import { pollsCuts } from "./polls.js";
import { provisioningCuts } from "./provisioning.js";
import { resetCuts } from "./reset.js";
import { rpcCuts } from "./rpc.js";
import type { Case } from "./runner.js";
import { telemetryCuts } from "./telemetry.js";

export const all: Readonly<Record<string, readonly Case[]>> = {
  outbox: outboxCuts,
  telemetry: telemetryCuts,
  provisioning: provisioningCuts,
  rpc: rpcCuts,
  attributes: attributesCuts,
  firmware: updates,
  polls: pollsCuts,
  reset: resetCuts,
  health: healthCuts,
  cycle: cycleCuts,
  files: filesCuts,
};
