import { attributesCuts } from "../cases/attributes.js";
import { cutTests } from "../declare.js";

cutTests("attributes arrive both ways and nothing goes back", attributesCuts, { pairs: 30 });
