/** A change that the platform rejects. The message is shown to the operator, without secrets. */
export class Refused extends Error {
  override name = "Refused";
}
