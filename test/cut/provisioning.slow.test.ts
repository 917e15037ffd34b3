import { cutTests } from "./declare.js";
import { provisioningCuts } from "./provisioning.js";

cutTests("one device is made and keeps its token", provisioningCuts, { pairs: 60 });
