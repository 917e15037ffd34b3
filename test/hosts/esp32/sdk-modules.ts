// The ways into a board, in memory: the test is the phone, the cable and the finger.
import type { SdkModules, SerialPins } from "../../../hosts/esp32/commissioning/sdk-modules.js";
import type { Socket, SocketEvent } from "../../../src/port.js";

type Accept = Parameters<SdkModules["listen"]>[1];
/** A connection, as the machine takes it over. */
export type Visitor = (event: (what: SocketEvent) => void) => Socket;

const PHONE = "192.168.4.2";

export class FakeSdkModules implements SdkModules {
  /** Open now. */
  readonly listeners = new Map<number, Accept>();
  readonly names = new Map<number, (bytes: Uint8Array, answer: (bytes: Uint8Array) => void) => void>();
  pins: SerialPins | undefined;
  typed: ((bytes: Uint8Array) => void) | undefined;
  /** What the serial line was handed in one piece. */
  readonly framed: Buffer[] = [];
  /** Called with all that the serial line sends, as the other end gets it. */
  onSerial: (bytes: Uint8Array) => void = () => {};
  /** All that went out by the page and the name server. */
  readonly sent: Buffer[] = [];
  readonly pressed = new Set<number>();
  readonly asked: number[] = [];
  /** Modules that can't be had. */
  shut: ("listen" | "datagrams" | "serial" | "pin")[] = [];

  listen(port: number, accept: Accept): () => void {
    this.#check("listen");
    this.listeners.set(port, accept);
    return () => void this.listeners.delete(port);
  }

  datagrams(
    port: number,
    received: (bytes: Uint8Array, answer: (bytes: Uint8Array) => void) => void,
  ): () => void {
    this.#check("datagrams");
    this.names.set(port, received);
    return () => void this.names.delete(port);
  }

  serial(pins: SerialPins, received: (bytes: Uint8Array) => void) {
    this.#check("serial");
    this.pins = pins;
    this.typed = received;
    return () => {
      this.typed = undefined;
    };
  }

  pin(pin: number) {
    this.#check("pin");
    this.asked.push(pin);
    return { read: () => (this.pressed.has(pin) ? 0 : 1) };
  }

  /** As ESP-IDF takes it for the first serial line. */
  sendWhole(bytes: Uint8Array): void {
    this.framed.push(Buffer.from(bytes));
    this.onSerial(bytes);
  }

  /** One request of a phone that joined the access point; what came back. */
  visit(request: string, from = PHONE): string {
    let out = Buffer.alloc(0);
    let rest = Buffer.from(request);
    let notify = (_what: SocketEvent): void => {};
    const visitor: Visitor = (event) => {
      notify = event;
      return {
        write: (bytes) => {
          out = Buffer.concat([out, bytes]);
          return bytes.length;
        },
        read: (into) => {
          const count = Math.min(into.length, rest.length);
          into.set(rest.subarray(0, count));
          rest = rest.subarray(count);
          return count;
        },
        close: () => {},
      };
    };
    this.listeners.get(80)?.(from, visitor);
    notify("readable");
    this.sent.push(out);
    return out.toString();
  }

  /** What the page's form does. */
  submit(values: Readonly<Record<string, string>>): string {
    const host = "192.168.4.1";
    const [, proof = ""] =
      /name="proof" value="(\w+)"/.exec(this.visit(`GET / HTTP/1.1\r\nHost: ${host}\r\n\r\n`)) ?? [];
    const body = new URLSearchParams({ proof, ...values }).toString();
    return this.visit(
      `POST / HTTP/1.1\r\nHost: ${host}\r\nOrigin: http://${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
  }

  resolve(packet: Uint8Array): Uint8Array | undefined {
    let answered: Uint8Array | undefined;
    this.names.get(53)?.(packet, (bytes) => {
      answered = bytes;
      this.sent.push(Buffer.from(bytes));
    });
    return answered;
  }

  #check(door: (typeof this.shut)[number]): void {
    if (this.shut.includes(door)) throw new Error(`no ${door}`);
  }
}
