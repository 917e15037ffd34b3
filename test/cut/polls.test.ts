import { cutTests } from "./declare.js";
import { pollsCuts } from "./polls.js";

cutTests("no poll asks for more than was found to pass", pollsCuts, { pairs: 60 });
