// The codes of what went wrong in a run: those that diagnostics.ts documents, and no other.
import { FAILURES } from "../../../src/agent/firmware/failures.js";
import type { Agent } from "../../../src/index.js";
import { RPC_ERRORS } from "../../../src/wire/rpc.js";

const CODES = [
  /^lost$/,
  /^busy (408|429|5\d\d)$/,
  /^refused (4\d\d|500|provisioning)$/,
  new RegExp(`^fw (${Object.values(FAILURES).flat().join("|")})$`),
  new RegExp(`^rpc (${Object.keys(RPC_ERRORS).join("|")})$`),
  /^(BAD_VALUE|TOO_LARGE|TIMEOUT|REFUSED|STOPPED)$/,
];

/** Calls `fail` with each code that is none of the list. */
export function watchCodes(agent: Agent, fail: (what: string) => void): void {
  const seen = (code: string): void => {
    if (!CODES.some((one) => one.test(code))) fail(`the code ${code} is none of the closed list`);
  };
  agent.on("error", ({ code }) => seen(code));
  agent.on("refused", ({ what }) => what === "provisioning" && seen("refused provisioning"));
  agent.on("rpc", ({ error }) => error && seen(`rpc ${error}`));
}
