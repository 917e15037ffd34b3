import { provisioningCuts } from "../cases/provisioning.js";
import { cutTests } from "../declare.js";

cutTests("one device is made and keeps its token", provisioningCuts, { pairs: 60 });
