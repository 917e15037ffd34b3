// More: npm run fuzz
import { declare } from "./declare.js";

declare(12_000);
