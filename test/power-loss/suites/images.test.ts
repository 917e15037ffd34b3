import { imagesCases } from "../cases/images.js";
import { powerLossTests } from "../declare.js";

powerLossTests("an older image and this one deliver or count what the other one wrote", imagesCases, {
  pairs: 100,
});
