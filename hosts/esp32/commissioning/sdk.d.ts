// The SDK's pins, serial lines and sockets that commission-board.ts uses.

declare module "embedded:io/digital" {
  export default class Digital {
    static readonly InputPullUp: number;
    constructor(options: { pin: number; mode: number });
    read(): number;
  }
}

declare module "embedded:io/serial" {
  export default class Serial {
    /** Throws if the port is in use, as in a debug build. */
    constructor(options: {
      port: number;
      receive: number;
      transmit: number;
      baud: number;
      format: "buffer";
      onReadable: (count: number) => void;
    });
    read(): ArrayBuffer | undefined;
    close(): void;
  }
}

declare module "embedded:io/socket/udp" {
  export default class UDP {
    constructor(options: { port?: number; onReadable: (packets: number) => void });
    read(): (ArrayBuffer & { address: string; port: number }) | undefined;
    write(bytes: Uint8Array, address: string, port: number): void;
    close(): void;
  }
}
