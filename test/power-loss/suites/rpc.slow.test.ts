import { rpcCuts } from "../cases/rpc.js";
import { cutTests } from "../declare.js";

cutTests("no handler runs twice and each caller is answered", rpcCuts, { pairs: 30 });
