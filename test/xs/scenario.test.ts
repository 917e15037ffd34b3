// As by default, and the lean build; scenario.slow.test.ts has the other modes and numbers of connections.
import { leanTourOnXs, tourOnXs } from "./scenario.js";

tourOnXs("deployed", 2);
leanTourOnXs();
