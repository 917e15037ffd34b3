// The modes of the platform and the numbers of connections that scenario.test.ts leaves out, and the lean build.
import { leanTourOnXs, tourOnXs } from "./scenario.js";

tourOnXs("deployed", 1);
tourOnXs("deployed", 3);
for (const connections of [1, 2, 3] as const) tourOnXs("documented", connections);
leanTourOnXs();
