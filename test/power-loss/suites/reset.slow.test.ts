import { resetCases } from "../cases/reset.js";
import { powerLossTests } from "../declare.js";

powerLossTests("a reset has not begun or is completed, and the operator has its answer first", resetCases, {
  pairs: 10,
});
