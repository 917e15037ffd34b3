import { cutTests } from "./declare.js";
import { filesCuts } from "./files.js";

cutTests("what the Node host kept on disk is there", filesCuts, { pairs: 300 });
