// The modes of the platform and the numbers of connections that told-trial.test.ts leaves out.
import { others } from "./told.js";
import { trials } from "./trials.js";

trials(others);
