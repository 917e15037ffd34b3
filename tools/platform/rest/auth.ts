import type { FastifyInstance } from "fastify";
import type { RestContext } from "./context.js";
import { RestError } from "./error.js";
import { objectBody, textField } from "./input.js";
import { bearer } from "./tokens.js";
import type { User } from "./users.js";
import { entityId } from "./views.js";

/** Routes that need no login, or judge it themselves. */
const OPEN = new Set([
  ...["/api/auth/login", "/api/auth/token", "/api/faults"],
  ...["/", "/console.js", "/console.css", "/entities/devices"],
]);

/** Login, the user, a new token; and the check of every other route. */
export function authRoutes(app: FastifyInstance, { tokens, users, core }: RestContext): void {
  app.decorateRequest("user", null);
  app.addHook("onRequest", async (request) => {
    const isPage = request.is404 && !request.url.startsWith("/api/");
    if (!isPage && !OPEN.has(request.routeOptions.url ?? ""))
      request.user = tokens.user(bearer(request) ?? "");
  });

  app.post("/api/auth/login", async (request) => {
    const body = objectBody(request);
    const [name, password] = [textField(body, "username") ?? "", textField(body, "password") ?? ""];
    const user = users.byLogin(name, password, core.clock.now());
    if (!user) throw new RestError(401, "Invalid username or password");
    return { ...tokens.issue(user), scope: null };
  });

  app.post("/api/auth/token", async (request) => {
    const user = tokens.refreshing(textField(objectBody(request), "refreshToken") ?? "");
    return { ...tokens.issue(user), scope: null };
  });

  app.get("/api/auth/user", async ({ user }) => userView(user as User));
}

function userView(user: User): object {
  return {
    id: entityId("USER", user.id),
    createdTime: user.createdTime,
    tenantId: entityId("TENANT", user.tenantId),
    customerId: entityId("CUSTOMER", user.customerId),
    email: user.email,
    authority: user.authority,
    firstName: null,
    lastName: null,
    phone: null,
    name: user.email,
    version: 1,
    additionalInfo: null,
  };
}
