// Replaces claim.ts in the lean build.

import { leftOut } from "../../errors.js";
import type * as full from "./claim.js";

export const sendClaim: typeof full.sendClaim = () => Promise.reject(leftOut("claim"));
