// What image.test.ts leaves out: one and three connections.
import { imageStaysSmall } from "./image.js";

imageStaysSmall(1);
imageStaysSmall(3);
