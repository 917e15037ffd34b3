import { imageStaysSmall } from "./image.js";

for (const connections of [1, 2, 3] as const) imageStaysSmall(connections);
