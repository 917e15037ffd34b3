import { cutTests } from "./declare.js";
import { rpcCuts } from "./rpc.js";

cutTests("no handler runs twice and each caller is answered", rpcCuts, { pairs: 30 });
