/** The longest message taken over from a platform's error body, in characters. */
const LONGEST = 200;

/** Of a secret that is hidden, in characters. */
const SHORTEST = 4;

/** The platform's own code for an entity that does not exist. */
const NOT_FOUND = 32;

interface OperatorErrorOptions extends ErrorOptions {
  errorCode?: number | undefined;
}

/**
 * A REST call that failed. `status` is the HTTP status, 0 if there was no usable answer. The
 * message names the call and
 * what the platform said: one line, at most 200 characters of it, without the secrets of that call.
 */
export class OperatorError extends Error {
  override name = "OperatorError";
  readonly status: number;
  /** From the platform's error body; undefined if another server answered, such as a proxy. */
  readonly errorCode: number | undefined;

  constructor(status: number, message: string, options: OperatorErrorOptions = {}) {
    super(message, options);
    this.status = status;
    this.errorCode = options.errorCode;
  }

  /** True only for the platform's own 404, not for a proxy's. */
  get isNotFound(): boolean {
    return this.status === 404 && this.errorCode === NOT_FOUND;
  }

  /** The platform cannot be reached or is busy: the same call may succeed later. */
  get isTransient(): boolean {
    return this.status === 0 || this.status === 409 || this.status === 429 || this.status >= 500;
  }
}

/** Undefined if the call failed with such an error. Default: status 404. */
export async function unlessMissing<T>(
  call: Promise<T>,
  isMissing = ({ status }: OperatorError): boolean => status === 404,
): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof OperatorError && isMissing(error)) return undefined;
    throw error;
  }
}

/** A peer's text as one bounded line. Secrets become `***` before the cut, so no part remains. */
export function tame(text: string, secrets: readonly string[]): string {
  let line = text;
  // A shorter one occurs in any text.
  for (const secret of secrets)
    if (secret.length >= SHORTEST) for (const form of formsOf(secret)) line = line.replaceAll(form, "***");
  return Array.from(line.replace(/\p{Cc}/gu, " "))
    .slice(0, LONGEST)
    .join("")
    .trim();
}

/** As it is, in JSON, and as a server echoes it from a URL. The longest come first. */
function formsOf(secret: string): string[] {
  const inQuery = new URLSearchParams([["", secret]]).toString().slice(1);
  const inJson = JSON.stringify(secret).slice(1, -1);
  const escaped = [inQuery, inQuery.replaceAll("+", "%20")];
  const small = escaped.map((form) => form.replace(/%../g, (sign) => sign.toLowerCase()));
  return [...escaped, ...small, inJson, secret].sort((one, other) => other.length - one.length);
}
