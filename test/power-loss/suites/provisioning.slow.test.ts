import { provisioningCases } from "../cases/provisioning.js";
import { powerLossTests } from "../declare.js";

powerLossTests("one device is made and keeps its token", provisioningCases, { pairs: 60 });
