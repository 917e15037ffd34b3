import { attributesCases } from "./cases/attributes.js";
import { updates } from "./cases/firmware.js";
import { provisioningCases } from "./cases/provisioning.js";
import { resetCases } from "./cases/reset.js";
import { rpcCases } from "./cases/rpc.js";
import { cycleCases } from "./cases/sleep-cycle.js";
import { powerLossTests } from "./declare.js";

powerLossTests("an update ends with the old image or the new one, and UPDATED", updates, 20);

powerLossTests("attributes arrive both ways and nothing goes back", attributesCases, 30);

powerLossTests("one device is made and keeps its token", provisioningCases, 60);

powerLossTests(
  "a reset has not begun or is completed, and the operator has its answer first",
  resetCases,
  10,
);

powerLossTests("no handler runs twice and each caller is answered", rpcCases, 30);

powerLossTests("wakes lose no point, run no RPC twice and give each point one time", cycleCases, 6);
