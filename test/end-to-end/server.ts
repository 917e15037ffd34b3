// Where the end-to-end tests run: on the server that MOTE_PLATFORM_URL names, or on a local
// platform of their own.

import test from "ava";
import { OperatorError } from "../../tools/operator/error.js";
import { Operator } from "../../tools/operator/operator.js";
import { type Platform, startPlatform } from "../../tools/platform/server.js";
import { unless } from "../unless.js";

/** A platform and its logins. */
export interface Server {
  /** Begins the titles of its tests. */
  readonly name: string;
  /** Undefined: a local platform is started for each test. */
  readonly url?: string;
  /** Of that local platform. */
  readonly tenant: Login;
  readonly customer: Login;
}

export interface Login {
  readonly username: string;
  readonly password: string;
}

const TENANT = { username: "tenant@thingsboard.org", password: "tenant" };
const CUSTOMER = { username: "customer@thingsboard.org", password: "customer" };

export const localPlatform = (): Server => ({ name: "local", tenant: TENANT, customer: CUSTOMER });

/** What the environment asks for. Throws if a server is named without its login. */
export function serversOf(env: NodeJS.ProcessEnv): readonly [Server, ...Server[]] {
  const { MOTE_PLATFORM_URL: url, MOTE_PLATFORM_USERNAME: username, MOTE_PLATFORM_PASSWORD: password } = env;
  if (!url) return [localPlatform()];
  if (!username || !password)
    throw new Error(
      "MOTE_PLATFORM_URL needs MOTE_PLATFORM_USERNAME and MOTE_PLATFORM_PASSWORD, a tenant's login",
    );
  const customer = {
    username: env.MOTE_PLATFORM_CUSTOMER_USERNAME || CUSTOMER.username,
    password: env.MOTE_PLATFORM_CUSTOMER_PASSWORD || CUSTOMER.password,
  };
  return [{ name: "given server", url, tenant: { username, password }, customer }];
}

export const SERVERS = serversOf(process.env);
export const isGiven = SERVERS.some(({ url }) => url !== undefined);
/**
 * For what may take its time: a real server stores later and answers over a network. In
 * milliseconds.
 */
export const PATIENCE_MS = isGiven ? 120_000 : 60_000;
/** How far the clocks of device and platform may be apart. */
export const SKEW_MS = isGiven ? 600_000 : 0;

/** A stock server has no rule chain that answers: these are skipped there. */
export const withRuleChain = unless(test, isGiven ? "a stock server has no such rule chain" : undefined);
/**
 * Needs a customer's login: those of a fresh server, or MOTE_PLATFORM_CUSTOMER_USERNAME and
 * _PASSWORD.
 */
export const withCustomer = unless(
  test,
  (await hasCustomer()) ? undefined : "no customer's login: MOTE_PLATFORM_CUSTOMER_USERNAME",
);

async function hasCustomer(): Promise<boolean> {
  for (const { url, customer } of SERVERS) {
    if (url === undefined) continue;
    try {
      await new Operator({ url }).login(customer.username, customer.password);
    } catch (error) {
      if (error instanceof OperatorError && error.status === 401) return false;
      throw error;
    }
  }
  return true;
}

export async function open({ url }: Server): Promise<{ url: string; close(): Promise<void> }> {
  if (url !== undefined) return { url: url.replace(/\/+$/, ""), close: async () => {} };
  const platform: Platform = await startPlatform({ port: 0, ruleChain: true });
  return platform;
}
