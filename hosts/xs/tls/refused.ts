/** The other side is not who it should be, or does not follow the protocol. The message is for people, 80 bytes at most. */
export class Refused extends Error {
  // No field: XS lets no constructor assign it, as the name of all errors is frozen.
  override get name(): string {
    return "Refused";
  }
}

/** By its name: the modules that take the place of the SDK's are built each for itself. */
export const isRefused = (error: unknown): error is Refused => {
  return error instanceof Error && error.name === "Refused";
};
