// More: node scripts/campaign.mjs fuzz
import { declare } from "./declare.js";

declare(12_000);
