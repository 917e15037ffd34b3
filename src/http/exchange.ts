import type { Connection } from "./connection.js";
import type { Outcome } from "./outcome.js";
import type { Request } from "./request.js";

/** One request to exactly one outcome. Never rejects. */
export const exchange = (connection: Connection, request: Request): Promise<Outcome> => {
  return new Promise((resolve) => connection.send(request, resolve));
};
