// As by default; scenario.slow.test.ts has the other modes and numbers of connections, and the lean build.
import { tourOnXs } from "./scenario.js";

tourOnXs("deployed", 2);
