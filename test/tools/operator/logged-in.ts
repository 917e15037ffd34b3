// An operator that is logged in at a platform of nock's.
import nock from "nock";
import { Operator } from "../../../tools/operator/operator.js";

export const url = "http://platform.test:8080";
export const json = { "content-type": "application/json" };

export async function loggedIn(): Promise<{ operator: Operator; platform: nock.Scope }> {
  nock(url).post("/api/auth/login").reply(200, '{"token":"a.b.c","refreshToken":"d.e.f"}', json);
  const operator = new Operator({ url });
  await operator.login("tenant@thingsboard.org", "tenant");
  return { operator, platform: nock(url).matchHeader("x-authorization", "Bearer a.b.c") };
}
