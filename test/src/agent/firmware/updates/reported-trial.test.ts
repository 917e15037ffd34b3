// The trial of a new image as by default; reported-trial.slow.test.ts has the other modes and numbers of connections.
import { usual } from "./reported.js";
import { trials } from "./trials.js";

trials(usual);
