import { declare } from "./group.js";

declare(6);
