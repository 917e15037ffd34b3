import { pollsCuts } from "../cases/polls.js";
import { cutTests } from "../declare.js";

cutTests("no poll asks for more than was found to pass", pollsCuts, { pairs: 60 });
