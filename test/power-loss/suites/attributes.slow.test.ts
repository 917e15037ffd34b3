import { attributesCases } from "../cases/attributes.js";
import { powerLossTests } from "../declare.js";

powerLossTests("attributes arrive both ways and nothing goes back", attributesCases, { pairs: 30 });
