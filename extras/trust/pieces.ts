// Reads a certificate from the platform: each of several shared attributes contains a piece.
import { type Agent, MoteError } from "../../src/index.js";
import { fromBase64 } from "../../src/wire/text/base64.js";

const DEADLINE_MS = 30_000;

/** Joins the pieces under `keys`, `bytes` bytes in all. On failure returns why, for people. */
export async function readPieces(
  agent: Pick<Agent, "attributes">,
  keys: readonly string[],
  bytes: number,
): Promise<Uint8Array | string> {
  const whole = new Uint8Array(bytes);
  let at = 0;
  for (const key of keys) {
    // One by one: an answer with all pieces may exceed a board's limit.
    const piece = await readPiece(agent, key);
    if (typeof piece === "string") return piece;
    if (at + piece.length > bytes) return "a certificate is longer than announced";
    whole.set(piece, at);
    at += piece.length;
  }
  return at === bytes ? whole : "a certificate is shorter than announced";
}

async function readPiece(agent: Pick<Agent, "attributes">, key: string): Promise<Uint8Array | string> {
  try {
    const { shared } = await agent.attributes.read({ sharedKeys: [key], timeoutMs: DEADLINE_MS });
    const text = Object.hasOwn(shared, key) ? shared[key] : undefined;
    const piece = typeof text === "string" ? fromBase64(text) : undefined;
    return piece ?? "a piece of a certificate is missing or is not base64";
  } catch (error) {
    return `a certificate can't be read: ${error instanceof MoteError ? error.message : "unknown"}`;
  }
}
