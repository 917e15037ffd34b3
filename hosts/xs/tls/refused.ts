/** The other side is not who it should be, or does not follow the protocol. The message is for people, 80 bytes at most. */
export class Refused extends Error {
  override name = "Refused";
}
