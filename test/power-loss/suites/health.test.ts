import { healthCases } from "../cases/health.js";
import { powerLossTests } from "../declare.js";

powerLossTests("the codes seen last are those of before the write or of after it", healthCases, {
  pairs: 30,
});
