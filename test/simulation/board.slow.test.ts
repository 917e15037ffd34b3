import { declare } from "./board.js";

declare(80_001, 60);
