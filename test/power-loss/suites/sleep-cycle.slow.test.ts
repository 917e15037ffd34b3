import { cycleCases } from "../cases/sleep-cycle.js";
import { powerLossTests } from "../declare.js";

powerLossTests("wakes lose no point, run no RPC twice and give each point one time", cycleCases, {
  pairs: 6,
});
