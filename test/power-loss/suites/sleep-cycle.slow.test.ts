import { cycleCuts } from "../cases/sleep-cycle.js";
import { cutTests } from "../declare.js";

cutTests("wakes lose no point, run no RPC twice and give each point one time", cycleCuts, { pairs: 6 });
