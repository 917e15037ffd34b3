// The name server of a network that leads nowhere else: every name is here. (The SDK's has no bound on what it reads of a packet.)

const HEADER = 12;
const LONGEST = 512;
const LONGEST_NAME = 255;
const LONGEST_LABEL = 63;
const A = 1;
const ANY = 255;
const IN = 1;
/** Seconds: the phone is to forget it when it leaves. */
const TTL = 5;

/** The answer to `packet`, or undefined for what is no plain question: nothing is sent then. `address`: four numbers. */
export const answerDns = (packet: Uint8Array, address: readonly number[]): Uint8Array | undefined => {
  if (packet.length < HEADER + 5 || packet.length > LONGEST) return undefined;
  const word = (at: number): number => ((packet[at] as number) << 8) | (packet[at + 1] as number);
  // A question, opcode 0, one of them, and nothing said already. Records behind it (EDNS) are left out.
  if ((word(2) & 0xf800) !== 0 || word(4) !== 1 || word(6) !== 0 || word(8) !== 0) return undefined;
  const end = endOfName(packet);
  if (end === undefined || end + 4 > packet.length) return undefined;
  const type = word(end);
  const kind = word(end + 2);
  const isKnown = kind === IN && (type === A || type === ANY);
  const answer = new Uint8Array(end + 4 + (isKnown ? 16 : 0));
  answer.set(packet.subarray(0, end + 4));
  // An answer, with authority; whether recursion was asked for comes back.
  answer.set([0x84 | ((packet[2] as number) & 0x01), 0, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0], 2);
  if (isKnown) answer.set([0xc0, HEADER, 0, A, 0, IN, 0, 0, 0, TTL, 0, 4, ...address], end + 4);
  return answer;
};

/** Where the question's name ends; undefined if it does not, or points elsewhere. */
const endOfName = (packet: Uint8Array): number | undefined => {
  let at = HEADER;
  while (at < packet.length && at - HEADER < LONGEST_NAME) {
    const length = packet[at++] as number;
    if (length === 0) return at;
    if (length > LONGEST_LABEL) return undefined;
    at += length;
  }
  return undefined;
};
