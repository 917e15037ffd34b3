// What the emulator's `filter-dump` wrote of the network: the packets between the chip and one port
// of this machine.

export interface Traffic {
  readonly packets: number;
  /** Heads of IP and TCP included, that of Ethernet not. */
  readonly bytes: number;
}

const FILE_HEAD = 24;
const RECORD_HEAD = 16;
const ETHERNET = 14;
const IPV4 = 0x0800;
const TCP = 6;

/** Reads what was added since it was last asked: a file that grows. */
export class Wire {
  readonly #port: number;
  #at = FILE_HEAD;
  #packets = 0;
  #bytes = 0;

  /** `port`: of this machine. */
  constructor(port: number) {
    this.#port = port;
  }

  /**
   * Of all packets in `file`, which is what was given before, or longer. A record that is not whole
   * waits for the next time.
   */
  read(file: Buffer): Traffic {
    while (this.#at + RECORD_HEAD <= file.length) {
      const length = file.readUInt32LE(this.#at + 8);
      const begins = this.#at + RECORD_HEAD;
      if (begins + length > file.length) break;
      this.#take(file.subarray(begins, begins + length));
      this.#at = begins + length;
    }
    return { packets: this.#packets, bytes: this.#bytes };
  }

  #take(frame: Buffer): void {
    if (frame.length < ETHERNET + 20 || frame.readUInt16BE(12) !== IPV4) return;
    const ip = frame.subarray(ETHERNET);
    const head = (ip[0]! & 15) * 4;
    if (ip[9] !== TCP || ip.length < head + 4) return;
    if (ip.readUInt16BE(head) !== this.#port && ip.readUInt16BE(head + 2) !== this.#port) return;
    this.#packets++;
    // A short frame is filled up; this is what the packet says of itself.
    this.#bytes += ip.readUInt16BE(2);
  }
}
