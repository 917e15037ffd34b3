import { filesCuts } from "../cases/files.js";
import { cutTests } from "../declare.js";

cutTests("what the Node host kept on disk is there", filesCuts, { pairs: 300 });
