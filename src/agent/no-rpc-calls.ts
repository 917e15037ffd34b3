// In place of rpc-calls.ts in the lean build: server-side RPC alone.
import { leftOut } from "./errors.js";
import type * as full from "./rpc-calls.js";

export class RpcCalls implements Pick<full.RpcCalls, "call"> {
  async call(): Promise<never> {
    throw leftOut("rpc.call");
  }
}
