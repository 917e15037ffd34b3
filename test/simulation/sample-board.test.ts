import { SEED } from "../sample.js";
import { declare } from "./board.js";

declare(SEED, 3);
