// What is fuzzed: a parser, lawful documents, and what must hold of whatever comes of a damaged
// one.
import { decode } from "../../hosts/node/text.js";

export interface Parser {
  readonly name: string;
  /** Lawful documents; the damaged ones are made of these. */
  readonly documents: readonly Uint8Array[];
  /**
   * Reads a document that comes in `pieces` and says what came of it, as plain data. Throws if that
   * breaks a promise. What the parser itself throws counts as that too: none of them declares an
   * exception.
   */
  read(pieces: readonly Uint8Array[]): unknown;
  /** Whether it takes bytes as they come: then whatever the pieces, the same must come of them. */
  readonly incremental?: boolean;
}

/**
 * For parsers that read a text whole. Text that is no UTF-8 comes to them as the host or
 * `decodeStart` gave it: here as Latin 1.
 */
export function ofText(name: string, documents: readonly string[], read: (text: string) => unknown): Parser {
  return {
    name,
    documents: documents.map((document) => Buffer.from(document)),
    read: (pieces) => read(textOf(whole(pieces))),
  };
}

export function whole(pieces: readonly Uint8Array[]): Uint8Array {
  return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
}

export const textOf = (bytes: Uint8Array): string => decode(bytes) ?? Buffer.from(bytes).toString("latin1");

/** A promise that must hold of what came of a document. */
export function must(holds: boolean, promise: string): void {
  if (!holds) throw new Error(`broken: ${promise}`);
}
