// More: npm run fuzz
import { declare } from "./declare.js";

declare(20_000);
