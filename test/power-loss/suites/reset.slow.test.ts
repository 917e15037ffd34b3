import { resetCuts } from "../cases/reset.js";
import { cutTests } from "../declare.js";

cutTests("a reset has not begun or is completed, and the operator has its answer first", resetCuts, {
  pairs: 10,
});
