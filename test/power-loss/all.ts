// Every case there is, by the name of its file.
import { attributesCuts } from "./cases/attributes.js";
import { filesCuts } from "./cases/files.js";
import { updates } from "./cases/firmware.js";
import { healthCuts } from "./cases/health.js";
import { outboxCuts } from "./cases/outbox.js";
import { pollsCuts } from "./cases/polls.js";
import { provisioningCuts } from "./cases/provisioning.js";
import { resetCuts } from "./cases/reset.js";
import { rpcCuts } from "./cases/rpc.js";
import { cycleCuts } from "./cases/sleep-cycle.js";
import { telemetryCuts } from "./cases/telemetry.js";
import type { Case } from "./runner.js";

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
