// With as many connections as by default; image.slow.test.ts has the others.
import { imageStaysSmall } from "./image.js";

imageStaysSmall(2);
