import { rpcCases } from "../cases/rpc.js";
import { powerLossTests } from "../declare.js";

powerLossTests("no handler runs twice and each caller is answered", rpcCases, { pairs: 30 });
