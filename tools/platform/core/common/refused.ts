/** A change that the platform does not accept. The message is for the operator: no secret is in it. */
export class Refused extends Error {
  override name = "Refused";
}
