// Every case there is, by the name of its file.
import { attributesCases } from "./cases/attributes.js";
import { filesCases } from "./cases/files.js";
import { updates } from "./cases/firmware.js";
import { outboxCases } from "./cases/outbox.js";
import { provisioningCases } from "./cases/provisioning.js";
import { resetCases } from "./cases/reset.js";
import { rpcCases } from "./cases/rpc.js";
import { cycleCases } from "./cases/sleep-cycle.js";
import { telemetryCases } from "./cases/telemetry.js";
import type { Case } from "./runner.js";

export const all: Readonly<Record<string, readonly Case[]>> = {
  outbox: outboxCases,
  telemetry: telemetryCases,
  provisioning: provisioningCases,
  rpc: rpcCases,
  attributes: attributesCases,
  firmware: updates,
  reset: resetCases,
  cycle: cycleCases,
  files: filesCases,
};
