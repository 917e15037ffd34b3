// The numbers of connections that scenario.test.ts leaves out, and the lean build.
import { leanTourOnXs, tourOnXs } from "./scenario.js";

tourOnXs(1);
tourOnXs(3);
leanTourOnXs();
