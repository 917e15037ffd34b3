// As by default; scenario.slow.test.ts has the other numbers of connections, and the lean build.
import { tourOnXs } from "./scenario.js";

tourOnXs(2);
