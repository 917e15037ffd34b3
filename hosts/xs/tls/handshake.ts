// Takes the place of the SDK's "ssl/handshake". That one takes a server's messages in any order, or not at all, and a key exchange
// that nobody signed: whoever sits in between could show the server's certificates and go on with a key of their own, or
// go on without any, and the token would leave in the clear.

import handshake, { type Message, type TlsSession } from "mote-sdk/ssl/handshake";
import { inRange } from "ssl/cert";
import Stream from "ssl/stream";
import X509 from "x509";
import { Refused } from "./refused.js";

const BEGIN = -1;
const HELLO = 2;
const CERTIFICATE = 11;
const KEY_EXCHANGE = 12;
const REQUEST = 13;
const DONE = 14;
const FINISHED = 20;

/** What may follow what, of the messages of a server. */
const FOLLOWS: Readonly<Record<number, readonly number[]>> = {
  [BEGIN]: [HELLO],
  [HELLO]: [CERTIFICATE, FINISHED],
  [CERTIFICATE]: [KEY_EXCHANGE],
  [KEY_EXCHANGE]: [REQUEST, DONE],
  [REQUEST]: [DONE],
  [DONE]: [FINISHED],
};

/** SHA-256, SHA-384, SHA-512. */
const HASHES = [4, 5, 6];
const RSA = 1;
const ECDSA = 3;

/** In order, and `check` finds nothing wrong. */
const inOrder = (
  kind: number,
  message: Message,
  check?: (session: TlsSession, last: number) => void,
): Message => {
  return {
    ...message,
    unpacketize(session, body) {
      const last = session.heard ?? BEGIN;
      if (!FOLLOWS[last]?.includes(kind)) throw new Refused("TLS: messages out of order");
      check?.(session, last);
      session.heard = kind;
      message.unpacketize(session, body);
    },
  };
};

/** With keys agreed on, and both sides using them; right after the hello only to go on with a session that was verified before. */
const checkFinished = (session: TlsSession, last: number): void => {
  const { masterSecret, serverCipher, clientCipher, clientSessionID, serverSessionID } = session;
  const before = clientSessionID && serverSessionID && same(clientSessionID, serverSessionID);
  const keys = masterSecret && serverCipher && (last === HELLO ? before : clientCipher);
  if (!keys) throw new Refused("TLS: no keys were agreed on");
};

const same = (one: ArrayBuffer, other: ArrayBuffer): boolean => {
  const [left, right] = [new Uint8Array(one), new Uint8Array(other)];
  return left.length === right.length && left.every((byte, i) => byte === right[i]);
};

/** The key exchange of ECDHE (RFC 8422), signed by the certificate's key. */
const checkSignature = (session: TlsSession, bytes: Uint8Array): void => {
  const at = 4 + (bytes[3] ?? 0);
  const [hash, kind] = [bytes[at] ?? 0, bytes[at + 1]];
  const signature = bytes.subarray(at + 4);
  const { curve, modulus } = X509.decodeSPKI(new Uint8Array(session.peerCert));
  const fits = kind === ECDSA ? curve && inRange(signature, curve.n) : kind === RSA && modulus !== undefined;
  if (!HASHES.includes(hash) || !fits) throw new Refused("TLS: a key that the server did not sign");
};

const keyExchange = inOrder(KEY_EXCHANGE, handshake.serverKeyExchange);

const refused = (message: Message): Message => ({
  ...message,
  unpacketize() {
    throw new Refused("TLS: messages out of order");
  },
});

const strict = Object.freeze({
  ...handshake,
  helloRequest: refused(handshake.helloRequest),
  clientHello: refused(handshake.clientHello),
  serverHello: inOrder(HELLO, handshake.serverHello),
  certificate: inOrder(CERTIFICATE, handshake.certificate),
  serverKeyExchange: {
    ...keyExchange,
    unpacketize(session: TlsSession, body: Stream) {
      const bytes = body.readChunk(body.bytesAvailable, true);
      checkSignature(session, bytes);
      keyExchange.unpacketize(session, new Stream(bytes));
    },
  },
  certificateRequest: inOrder(REQUEST, handshake.certificateRequest),
  serverHelloDone: inOrder(DONE, handshake.serverHelloDone),
  certificateVerify: refused(handshake.certificateVerify),
  clientKeyExchange: refused(handshake.clientKeyExchange),
  finished: inOrder(FINISHED, handshake.finished, checkFinished),
});

export default strict;
