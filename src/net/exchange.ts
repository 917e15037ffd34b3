import type { Connection } from "./connection.js";
import type { Request } from "./http/request.js";
import type { Outcome } from "./retry/outcome.js";

/** One request to exactly one outcome. Never rejects. */
export const exchange = (connection: Connection, request: Request): Promise<Outcome> => {
  return new Promise((resolve) => connection.send(request, resolve));
};
