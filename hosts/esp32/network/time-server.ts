// Asks a time server by SNTP (RFC 4330). The SDK's own client would add 20 KB of older socket code
// to an image.
import type { Clock, Host } from "../../../src/port.js";

/** The parts of the SDK's UDP and resolver that are used. */
export interface Datagrams {
  /** Throws without a network. */
  open(received: (bytes: Uint8Array) => void): {
    write(bytes: Uint8Array, address: string, port: number): void;
    close(): void;
  };
  /** Calls `found` once, later. */
  resolve(name: string, found: (address: string | undefined) => void): void;
}

const PORT = 123;
const PACKET = 48;
/** First byte of a question: version 4, client mode. */
const CLIENT = 0x23;
/** The first byte of an answer is leap indicator, version and mode, in 2, 3 and 3 bits. */
const LEAP_UNKNOWN = 3;
/** Servers of version 3 answer a question of version 4 in their own. */
const VERSION_MOST = 4;
const SERVER = 4;
/** Hops to a reference clock. 0 is a refusal, 16 a server that is not synchronized. */
const STRATUM_MOST = 15;
/** Offsets of our time stamp in the question, of its copy in the answer, and of the server's. */
const ASKED_AT = 40;
const REPEATED_AT = 24;
const TIME_AT = 40;
const NONCE = 8;
const SINCE_1900 = 2_208_988_800;
/** Seconds of an NTP era: the first ends in 2036. */
const ERA = 4_294_967_296;
const TRIES = 5;
const AGAIN_MS = 5000;
/** Longer than any answer of the resolver, which may also lose a question. */
const RESOLVE_MS = 60_000;

/**
 * Calls `done` once, later: with seconds since 1970, or undefined if the server's name is not
 * resolved within a minute, or without an answer within 25 s.
 */
export const askTimeServer = (
  name: string,
  datagrams: Datagrams,
  host: { readonly clock: Pick<Clock, "timer">; readonly random: Host["random"] },
  done: (seconds: number | undefined) => void,
): void => {
  const question = new Uint8Array(PACKET);
  // Random instead of our time, so that only an answer to this question matches.
  const nonce = question.subarray(ASKED_AT);
  host.random(nonce);
  question[0] = CLIENT;
  let socket: ReturnType<Datagrams["open"]> | undefined;
  let left = TRIES;
  let cancel = (): void => {};
  const end = (seconds: number | undefined): void => {
    cancel();
    left = -1;
    try {
      socket?.close();
    } catch {}
    done(seconds);
  };
  const ask = (address: string): void => {
    if (left-- === 0) {
      end(undefined);
      return;
    }
    cancel = host.clock.timer(AGAIN_MS, () => ask(address));
    try {
      socket ??= datagrams.open((bytes) => {
        const seconds = left < 0 ? undefined : timeIn(bytes, nonce);
        if (seconds !== undefined) end(seconds);
      });
      socket.write(question, address, PORT);
    } catch {
      // There may be a network at the next attempt.
    }
  };
  cancel = host.clock.timer(RESOLVE_MS, () => end(undefined));
  datagrams.resolve(name, (address) => {
    if (left < 0) return;
    cancel();
    if (address === undefined) end(undefined);
    else ask(address);
  });
};

/** Undefined for an answer to another question, or from a server that does not know the time. */
const timeIn = (bytes: Uint8Array, nonce: Uint8Array): number | undefined => {
  const [first = 0, stratum = 0] = bytes;
  const [leap, version, mode] = [first >> 6, (first >> 3) & 7, first & 7];
  if (bytes.length < PACKET || mode !== SERVER || version === 0 || version > VERSION_MOST) return undefined;
  if (leap === LEAP_UNKNOWN || stratum === 0 || stratum > STRATUM_MOST) return undefined;
  for (let i = 0; i < NONCE; i++) if (bytes[REPEATED_AT + i] !== nonce[i]) return undefined;
  let seconds = 0;
  for (let i = 0; i < 4; i++) seconds = seconds * 256 + (bytes[TIME_AT + i] as number);
  if (seconds === 0) return undefined;
  return seconds - SINCE_1900 + (seconds < ERA / 2 ? ERA : 0);
};
