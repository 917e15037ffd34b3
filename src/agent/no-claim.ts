// In place of claim.ts in the lean build.
import type * as full from "./claim.js";
import { leftOut } from "./errors.js";

export const sendClaim: typeof full.sendClaim = () => Promise.reject(leftOut("claim"));
