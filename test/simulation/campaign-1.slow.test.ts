import { declare } from "./campaign.js";

for (const share of [0, 1, 2, 3]) declare(share);
