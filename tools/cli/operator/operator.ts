// Shared by all operator commands: options, login and error reporting.
import { type Command, Option } from "commander";
import { BUSY, FAILED, REFUSED, UNANSWERED } from "../../exit-codes.js";
import { OperatorError } from "../../operator/error.js";
import type { Operator } from "../../operator/operator.js";
import { lossyNumber } from "../../operator/typed-json.js";
import { ExitError } from "../exit-error.js";
import { note } from "../output/table.js";
import { interruptible } from "../stop.js";
import { UsageError } from "../usage.js";
import { operatorOf } from "./authenticate.js";

export interface OperatorFlags {
  platform?: string;
  ca?: string;
  json?: boolean;
}

/** Adds the options of every operator command. */
export function operatorOptions(command: Command): Command {
  return command
    .addOption(new Option("--platform <name>", "use the saved login NAME").env("MOTE_PLATFORM"))
    .addOption(caOption("trust only these CA certificates (PEM); default: those of the login"))
    .option("--json", "print JSON");
}

export const caOption = (description: string): Option =>
  new Option("--ca <file>", description).env("MOTE_PLATFORM_CA");

/** Adds the option of destructive commands. */
export function yesOption(command: Command): Command {
  return command.option("-y, --yes", "skip the confirmation prompt");
}

/**
 * Runs `work` with the operator that flags, environment or `mote login` name. Ctrl-C exits with
 * 130. Failures become ExitError: 3 for a refusal, 1 otherwise.
 */
export function operate<T>(flags: OperatorFlags, work: (operator: Operator) => Promise<T>): Promise<T> {
  return interruptible(() => operateUntilStopped(flags, work));
}

/** Like `operate`, for work that stops by itself on a signal. */
export async function operateUntilStopped<T>(
  flags: OperatorFlags,
  work: (operator: Operator) => Promise<T>,
): Promise<T> {
  const operator = await operatorOf(flags);
  try {
    return await work(operator);
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const where = error.status === 0 ? `${operator.url}: ` : "";
    throw new ExitError(CODES[error.status] ?? FAILED, where + error.message + hintFor(error, operator), {
      cause: error,
    });
  }
}

const CODES: Readonly<Record<number, number>> = { 401: REFUSED, 403: REFUSED, 429: BUSY };
const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO/;

function hintFor({ status, message }: OperatorError, { authority = "" }: Operator): string {
  if (status === 401) return " (log in again: mote login)";
  if (status === 0 && message.includes("ECONNREFUSED"))
    return " (nothing listens there; your logins: mote login --list)";
  if (status === 413)
    return " (a proxy refuses requests of this size; for nginx raise client_max_body_size there)";
  if (status === 0 && UNTRUSTED.test(message)) return " (trust a private CA with --ca FILE)";
  return status === 403 && Object.hasOwn(LIMITS, authority) ? ` (${LIMITS[authority]})` : "";
}

/** Limits of logins other than a tenant administrator's. */
export const LIMITS: Readonly<Record<string, string>> = {
  CUSTOMER_USER:
    "this is a customer login: it can use the customer's devices; profiles, firmware and new devices need a tenant administrator",
  SYS_ADMIN: "this is the system administrator's login: devices need a tenant administrator",
};

/** A timeout of the platform means that the device did not answer. */
export async function inTime<T>(call: Promise<T>, what: string): Promise<T> {
  try {
    return await call;
  } catch (error) {
    const status = error instanceof OperatorError ? error.status : undefined;
    if (status === 504 || status === 408 || status === 409)
      throw new ExitError(UNANSWERED, `the device did not ${what}`, { cause: error });
    throw error;
  }
}

/** The last outage was reported, and the platform has not answered since. */
let isAway = false;

/**
 * Returns undefined while the platform is unreachable or busy. For commands that keep running: they
 * report the first failure, and the next answer.
 */
export async function ifAnswered<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    const answer = await work;
    if (isAway) note("The platform answers again.");
    isAway = false;
    return answer;
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    if (error.status !== 0 && error.status !== 429 && error.status < 500) throw error;
    if (!isAway) note("No answer from the platform; retrying.");
    isAway = true;
    return undefined;
  }
}

/** Parses JSON, or takes it as text. Throws UsageError for a number that would be rounded. */
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
  if (number !== undefined)
    throw new UsageError(`number ${number} is too precise and would be rounded: send it as text`);
}

/** Requests that a command has open at a time. */
const AT_A_TIME = 8;

/**
 * Maps `items`, a few at a time. Results keep the order. After a failure none begins, and none is
 * open.
 */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const at = next++;
      try {
        results[at] = await work(items[at] as T);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: AT_A_TIME }, worker));
  for (const end of ends) if (end.status === "rejected") throw end.reason;
  return results;
}
