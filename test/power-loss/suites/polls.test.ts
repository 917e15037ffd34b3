import { pollsCases } from "../cases/polls.js";
import { powerLossTests } from "../declare.js";

powerLossTests("no poll asks for more than was found to pass", pollsCases, { pairs: 60 });
