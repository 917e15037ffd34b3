// The parts of the Moddable SDK's TLS (8.2, modules/crypt) that hosts/xs/tls builds on. "mote-sdk/..." is what the manifest calls
// the SDK's own file where a module of ours takes its place.

declare module "ssl/session" {
  import type { TlsSession } from "mote-sdk/ssl/handshake";

  /** What a session reads from and writes to. It counts `readable` down itself, and sets `writable` from what `write` returns. */
  export interface Pipe {
    readable: number;
    writable: number;
    /** Fills `into`, which is never longer than `readable`. */
    read(into: Uint8Array): void;
    write(packet: Uint8Array): number;
  }

  export default class Session implements TlsSession {
    constructor(options: {
      /** Sent to the server, and what a session is kept by to go on with. */
      tls_server_name?: string;
      /** Ours: what the certificate must be for. */
      peerName: string;
      protocolVersion: number;
      tls_max_fragment_length?: number;
      authorities: readonly Uint8Array[];
      /** False: it goes on with no session, and keeps none. */
      cache?: boolean;
    });
    initiateHandshake(): void;
    /** One step: sends, or takes one record. True at the end, or when an alert came. Throws. */
    handshake(pipe: Pipe): boolean;
    /** What the next record of data holds; undefined if there is no whole one; null after an alert. Throws. */
    read(pipe: Pipe): Uint8Array | null | undefined;
    /** One record; 16,384 bytes at most. */
    write(pipe: Pipe, bytes: Uint8Array): number;
    /** Notifies the other side that it is over. */
    close(pipe: Pipe): void;
    /** The last message of the handshake that was taken; below 0 none. */
    handshakeProcess: number;
    /** Data that came and was not read. */
    applicationData?: object;
    alert: { level: number; description: number } | undefined;
    masterSecret?: ArrayBuffer;
    serverCipher: object | null;
    clientCipher: object | null;
    clientSessionID: ArrayBuffer | undefined;
    serverSessionID: ArrayBuffer | undefined;
    peerCert: ArrayBuffer;
    heard?: number;
  }
}

declare module "ssl/stream" {
  export default class Stream {
    constructor(bytes: Uint8Array);
    readonly bytesAvailable: number;
    /** `reference`: a view, no copy. */
    readChunk(length: number, reference: true): Uint8Array;
  }
}

declare module "ssl/constants" {
  export const GCM: number;
}

declare module "mote-sdk/ssl/ciphersuites" {
  const suites: readonly { encryptionMode: number }[];
  export default suites;
}

declare module "mote-sdk/ssl/handshake" {
  import type Stream from "ssl/stream";

  export interface TlsSession {
    masterSecret?: ArrayBuffer;
    serverCipher: object | null;
    clientCipher: object | null;
    clientSessionID: ArrayBuffer | undefined;
    serverSessionID: ArrayBuffer | undefined;
    peerCert: ArrayBuffer;
    /** Ours: the last message of the server's. */
    heard?: number;
  }

  export interface Message {
    unpacketize(session: TlsSession, body: Stream): void;
  }

  const handshake: {
    helloRequest: Message;
    clientHello: Message;
    serverHello: Message;
    certificate: Message;
    serverKeyExchange: Message;
    certificateRequest: Message;
    serverHelloDone: Message;
    certificateVerify: Message;
    clientKeyExchange: Message;
    finished: Message;
  };
  export default handshake;
}

declare module "mote-sdk/ssl/cert" {
  import type { SubjectKey } from "x509";

  export interface Signed {
    tbs: Uint8Array;
    algo: number[];
    sig: Uint8Array;
  }

  export default class Certificates {
    constructor(options: object);
    verify(presented: Uint8Array[], options: object): boolean;
    /** Whether the signature holds. Throws for what it does not know. */
    _verify(key: SubjectKey, what: Signed): boolean;
  }
}

/** Ours: tls/cert.ts. */
declare module "ssl/cert" {
  export { inRange } from "./tls/cert.js";
}

declare module "x509" {
  export interface SubjectKey {
    modulus?: bigint;
    curve?: { n: bigint };
  }

  const X509: {
    /** The key of a certificate (DER). Of what was not laid out as one it may read beyond the end: look first. */
    decodeSPKI(certificate: Uint8Array): SubjectKey;
  };
  export default X509;
}

interface BigIntConstructor {
  /** XS: big-endian, unsigned. */
  fromArrayBuffer(bytes: ArrayBufferLike): bigint;
}
