// The modes of the platform and the numbers of connections that reported-trial.test.ts leaves out.
import { others } from "./reported.js";
import { trials } from "./trials.js";

trials(others);
