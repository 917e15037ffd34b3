/** A failure with an exit code of its own. */
export class ExitError extends Error {
  override name = "ExitError";
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
