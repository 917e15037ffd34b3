// Replaces calls.ts in the lean build, which has server-side RPC only.
import { leftOut } from "../../errors.js";
import type * as full from "./calls.js";

export class RpcCalls implements Pick<full.RpcCalls, "call"> {
  async call(): Promise<never> {
    throw leftOut("rpc.call");
  }
}
