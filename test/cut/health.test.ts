import { cutTests } from "./declare.js";
import { healthCuts } from "./health.js";

cutTests("the codes seen last are those of before the write or of after it", healthCuts, { pairs: 30 });
