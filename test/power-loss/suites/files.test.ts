import { filesCases } from "../cases/files.js";
import { powerLossTests } from "../declare.js";

powerLossTests("what the Node host kept on disk is there", filesCases, { pairs: 300 });
