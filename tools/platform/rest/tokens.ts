import { createSigner, createVerifier } from "fast-jwt";
import type { FastifyRequest } from "fastify";
import type { Clock } from "../core/common/clock.js";
import type { Ids } from "../core/common/ids.js";
import { RestError } from "./error.js";
import type { User, Users } from "./users.js";

const LIFE_S = { access: 9_000, refresh: 604_800 };
const REFRESH = "REFRESH_TOKEN";
const ISSUER = "thingsboard.io";

interface Claims {
  sub: string;
  userId: string;
  scopes: string[];
  /** Seconds since 1970. */
  exp: number;
}

/** Signed access tokens (2.5 hours) and refresh tokens (a week). */
export class Tokens {
  readonly #users: Users;
  readonly #clock: Clock;
  readonly #ids: Ids;
  readonly #sign: (claims: object) => string;
  readonly #verify: (token: string) => unknown;

  constructor(users: Users, key: Buffer, clock: Clock, ids: Ids) {
    this.#users = users;
    this.#clock = clock;
    this.#ids = ids;
    this.#sign = createSigner({ key, algorithm: "HS512", noTimestamp: true });
    // Expiry is judged here, by the platform's clock.
    this.#verify = createVerifier({
      key,
      algorithms: ["HS512"],
      ignoreExpiration: true,
      ignoreNotBefore: true,
    });
  }

  issue(user: User): { token: string; refreshToken: string } {
    const { email: sub, id: userId, authority, tenantId, customerId } = user;
    const now = Math.floor(this.#clock.now() / 1000);
    const common = { sub, userId, sessionId: this.#ids.uuid(), iss: ISSUER, iat: now };
    const person = { enabled: true, isPublic: false, tenantId, customerId };
    return {
      token: this.#sign({ ...common, ...person, scopes: [authority], exp: now + LIFE_S.access }),
      refreshToken: this.#sign({
        ...common,
        scopes: [REFRESH],
        exp: now + LIFE_S.refresh,
        jti: this.#ids.uuid(),
      }),
    };
  }

  /** Whose access token it is. Throws RestError 401. */
  user(token: string): User {
    return this.#read(token, false);
  }

  /** Whose refresh token it is. Throws RestError 401. */
  refreshing(token: string): User {
    return this.#read(token, true);
  }

  #read(token: string, isRefresh: boolean): User {
    let claims: Claims;
    try {
      claims = this.#verify(token) as Claims;
    } catch {
      throw unauthorised();
    }
    if (claims.exp * 1000 <= this.#clock.now()) throw new RestError(401, "Token has expired", 11);
    const user = this.#users.byId(claims.userId);
    if (!user || claims.scopes.includes(REFRESH) !== isRefresh) throw unauthorised();
    return user;
  }
}

const BEARER = /^bearer\s+(\S+)$/i;

/** What follows `Bearer`, of X-Authorization or Authorization. */
export function bearer({ headers }: FastifyRequest): string | undefined {
  const header = headers["x-authorization"] ?? headers.authorization;
  return BEARER.exec(typeof header === "string" ? header : "")?.[1];
}

export function unauthorised(): RestError {
  return new RestError(401, "Authentication failed");
}
