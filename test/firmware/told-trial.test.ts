// The trial of a new image as by default; told-trial.slow.test.ts has the other modes and numbers of connections.
import { usual } from "./told.js";
import { trials } from "./trials.js";

trials(usual);
