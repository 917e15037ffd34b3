import { healthCuts } from "../cases/health.js";
import { cutTests } from "../declare.js";

cutTests("the codes seen last are those of before the write or of after it", healthCuts, { pairs: 30 });
