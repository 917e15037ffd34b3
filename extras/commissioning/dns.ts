// DNS server of the device's own access point: resolves every name to the device, so that a phone
// opens the setup page. The SDK's server reads packets without a bound.

const HEADER = 12;
const LONGEST = 512;
const LONGEST_NAME = 255;
const LONGEST_LABEL = 63;
const A = 1;
const ANY = 255;
const IN = 1;
/** Seconds. Short, so that the phone forgets the answer when it leaves this network. */
const TTL = 5;

/**
 * The answer to the query `packet`; undefined if it is not a plain query, which is not answered.
 * `address`: the four numbers of the IPv4 address.
 */
export const answerDns = (packet: Uint8Array, address: readonly number[]): Uint8Array | undefined => {
  if (packet.length < HEADER + 5 || packet.length > LONGEST) return undefined;
  const word = (at: number): number => ((packet[at] as number) << 8) | (packet[at + 1] as number);
  // One standard query (opcode 0) without answers. Additional records (EDNS) are ignored.
  if ((word(2) & 0xf800) !== 0 || word(4) !== 1 || word(6) !== 0 || word(8) !== 0) return undefined;
  const end = endOfName(packet);
  if (end === undefined || end + 4 > packet.length) return undefined;
  const type = word(end);
  const kind = word(end + 2);
  const isKnown = kind === IN && (type === A || type === ANY);
  const answer = new Uint8Array(end + 4 + (isKnown ? 16 : 0));
  answer.set(packet.subarray(0, end + 4));
  // Flags: response, authoritative; the "recursion desired" bit is copied from the query.
  answer.set([0x84 | ((packet[2] as number) & 0x01), 0, 0, 1, 0, isKnown ? 1 : 0, 0, 0, 0, 0], 2);
  if (isKnown) answer.set([0xc0, HEADER, 0, A, 0, IN, 0, 0, 0, TTL, 0, 4, ...address], end + 4);
  return answer;
};

/** Index after the name in the query; undefined if the name has no end or contains a pointer. */
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
