// What all commands of an operator share: the login, the device that is meant, how a failure is reported.
import { type Command, Option } from "commander";
import { REFUSED } from "../../../hosts/node/exit.js";
import { OperatorError } from "../../operator/error.js";
import { Operator } from "../../operator/operator.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { ExitError } from "../exit-error.js";
import { interruptible, Steps } from "../steps.js";
import { UsageError } from "../usage.js";
import { loginPath, readLogin, writeLogin } from "./login-file.js";
import { chosenPlatform } from "./settings.js";

export interface OperatorFlags {
  url?: string;
  platform?: string;
  username?: string;
  json?: boolean;
}

/** Adds the options that every command of an operator takes. */
export function operatorOptions(command: Command): Command {
  return command
    .addOption(
      new Option("--url <url>", "of the platform (default: that of the login)").env("MOTE_PLATFORM_URL"),
    )
    .addOption(new Option("--platform <name>", "one that you logged in at by that name").env("MOTE_PLATFORM"))
    .addOption(
      new Option("--username <name>", "log in as, with the password in MOTE_PLATFORM_PASSWORD").env(
        "MOTE_PLATFORM_USERNAME",
      ),
    )
    .option("--json", "JSON on the standard output, for programs");
}

/** Adds the option of commands that print tables. */
export function wideOption(command: Command): Command {
  return command.option("--wide", "tables as wide as they are, in place of cut to the terminal");
}

/** Adds the option of commands that take something away. */
export function yesOption(command: Command): Command {
  return command.option("-y, --yes", "do it without being asked");
}

/**
 * The operator that the flags and the environment name, or the one of `mote login`. Ctrl-C ends the process with 130 and says which of the
 * steps were done. What fails becomes an ExitError: 3 if the platform refuses the login or the right, 1 for the rest.
 */
export function operate<T>(
  flags: OperatorFlags,
  work: (operator: Operator, steps: Steps) => Promise<T>,
): Promise<T> {
  const steps = new Steps();
  return interruptible(steps, () => operateUntilStopped(flags, (operator) => work(operator, steps)));
}

/** As `operate`, for work that ends itself when it is asked to stop. */
export async function operateUntilStopped<T>(
  flags: OperatorFlags,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const operator = await operatorOf(flags);
  try {
    return await work(operator);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.status === 0) throw new ExitError(1, `${operator.url}: ${error.message}`, { cause: error });
    const refused = error.status === 401 || error.status === 403;
    throw new ExitError(refused ? REFUSED : 1, error.message + hintFor(error, operator), { cause: error });
  }
}

function hintFor({ status }: OperatorError, { authority = "" }: Operator): string {
  if (status === 401) return " (log in again: mote login)";
  return status === 403 && Object.hasOwn(LIMITS, authority) ? ` (${LIMITS[authority]})` : "";
}

/** What a login that is not a tenant administrator's can do. */
export const LIMITS: Readonly<Record<string, string>> = {
  CUSTOMER_USER:
    "this login is a customer's: it reaches the customer's devices; profiles, firmware and new devices need a tenant administrator",
  SYS_ADMIN: "this login is the server administrator's: devices need a tenant administrator",
};

async function operatorOf({ url, username, platform }: OperatorFlags): Promise<Operator> {
  const { MOTE_PLATFORM_PASSWORD: password } = process.env;
  const name = chosenPlatform(platform);
  const path = loginPath(name);
  const kept = readLogin(path);
  if (!kept && name !== undefined && url === undefined)
    throw new UsageError(`no login yet at ${name}: mote login --platform ${name} --url URL --username NAME`);
  const base = url ?? kept?.url;
  if (base === undefined)
    throw new UsageError("no login yet: mote login --url URL --username NAME (see mote help login)");
  if (username !== undefined && password !== undefined) return logIn(base, username, password);
  if (!kept || !samePlace(kept.url, base) || (username !== undefined && username !== kept.username))
    throw new UsageError(
      `no login at ${base}: mote login, or --username and the password in MOTE_PLATFORM_PASSWORD`,
    );
  const keep = (session: { token: string; refreshToken: string }): void =>
    writeLogin({ url: kept.url, username: kept.username, ...session }, path);
  return new Operator({ url: kept.url, session: kept, onSession: keep });
}

/** The operator whose login is kept for that platform, if it still holds. */
export async function keptOperator(url: string): Promise<Operator | undefined> {
  try {
    const operator = await operatorOf({ url });
    await operator.user();
    return operator;
  } catch (error) {
    if (error instanceof UsageError || error instanceof OperatorError) return undefined;
    throw error;
  }
}

/** True for two base URLs of one platform. */
export function samePlace(one: string, other: string): boolean {
  return one.replace(/\/+$/, "") === other.replace(/\/+$/, "");
}

type OnSession = (session: { token: string; refreshToken: string }) => void;

/** Throws UsageError for what is no URL. */
export function notLoggedIn(url: string, onSession: OnSession = () => {}): Operator {
  try {
    return new Operator({ url, onSession });
  } catch {
    throw new UsageError(`${url} is no http:// or https:// URL`);
  }
}

/** Throws UsageError for what is no URL, ExitError for what is no platform or refuses the login. */
export async function logIn(
  url: string,
  username: string,
  password: string,
  onSession?: OnSession,
): Promise<Operator> {
  const operator = notLoggedIn(url, onSession);
  try {
    await operator.login(username, password);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.status === 401 || error.status === 403)
      throw new ExitError(REFUSED, `${url} refuses the login of ${username}`, { cause: error });
    if (error.status === 0 || error.status === 429 || error.status >= 500)
      throw new ExitError(1, `${url}: ${error.message}`, { cause: error });
    throw new ExitError(1, `${url} does not answer like the platform: ${error.message}`, { cause: error });
  }
  return operator;
}

/** For what goes on for long: undefined where the platform is away or busy for the moment. */
export async function ifAnswered<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.status === 0 || error.status === 429 || error.status >= 500) return undefined;
    throw error;
  }
}

/** A value of the command line: JSON if it is, text otherwise. Throws UsageError for a number that would be rounded. */
export function jsonOrText(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return text;
  }
  refuseLossy(text);
  return value;
}

/** Throws UsageError if the JSON holds a number that would be rounded. */
export function refuseLossy(json: string): void {
  const number = lossyNumber(json);
  if (number !== undefined) throw new UsageError(`${number} can't be sent without rounding: send it as text`);
}

/** Works through `items`, `most` of them at a time; results in their order. */
export async function eachOf<T, R>(
  items: readonly T[],
  most: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      results[at] = await work(items[at] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}
