/** The longest message taken over from a platform's error body, in characters. */
const LONGEST = 200;

/**
 * A REST call that did not succeed. `status` is the HTTP status, 0 if there was no answer. The message names the call and
 * what the platform said: one line, 200 characters of it at most, without the secrets of that call.
 */
export class OperatorError extends Error {
  override name = "OperatorError";
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** Text of a peer as one bounded line. `secrets` are replaced by `***` first, so that none is left over in part. */
export function tame(text: string, secrets: readonly string[]): string {
  let line = text;
  for (const secret of secrets) if (secret !== "") line = line.replaceAll(secret, "***");
  return Array.from(line, (sign) => (isControl(sign) ? " " : sign))
    .slice(0, LONGEST)
    .join("")
    .trim();
}

function isControl(sign: string): boolean {
  const code = sign.codePointAt(0) ?? 0;
  return code < 0x20 || (code >= 0x7f && code < 0xa0);
}
