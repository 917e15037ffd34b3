// A certificate as it lies on the platform: in shared attributes that hold a piece each.
import { type Agent, MoteError } from "../../src/index.js";
import { fromBase64 } from "../../src/wire/text/base64.js";

const DEADLINE_MS = 30_000;

/** The `bytes` bytes in these attributes, in order, or the problem for people. */
export async function readPieces(
  agent: Pick<Agent, "attributes">,
  keys: readonly string[],
  bytes: number,
): Promise<Uint8Array | string> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const key of keys) {
    // One by one: an answer with all of them may be longer than a board takes.
    const piece = await readPiece(agent, key);
    if (typeof piece === "string") return piece;
    if (at + piece.length > bytes) return "a certificate is longer than it was announced";
    whole.set(piece, at);
    at += piece.length;
  }
  return at === bytes ? whole : "a certificate is shorter than it was announced";
}

async function readPiece(agent: Pick<Agent, "attributes">, key: string): Promise<Uint8Array | string> {
  try {
    const { shared } = await agent.attributes.read({ sharedKeys: [key], timeoutMs: DEADLINE_MS });
    const text = Object.hasOwn(shared, key) ? shared[key] : undefined;
    const piece = typeof text === "string" ? fromBase64(text) : undefined;
    return piece ?? "a piece of a certificate is missing, or is no base64";
  } catch (error) {
    return `a certificate can't be read: ${error instanceof MoteError ? error.message : "unknown"}`;
  }
}
