import { declare } from "./campaign.js";

for (const share of [4, 5, 6, 7]) declare(share);
