// The barest HTTP client there is: a socket that is kept as long as the peer keeps it, one request at a time, answers with a length and nothing else.
import { connect, type Socket } from "node:net";

const HEAD_END = "\r\n\r\n";
const LENGTH = /\r\ncontent-length: (\d+)/i;
const CLOSES = /\r\nconnection: close/i;

export interface Answer {
  readonly status: number;
  readonly body: string;
}

export class Raw {
  readonly #port: number;
  #socket: Socket | undefined;
  #arrived = "";
  #done: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;

  /** Of this machine. */
  constructor(port: number) {
    this.#port = port;
  }

  /** `head`: the request line and more headers, without those that every request has. */
  request(head: string, body?: string): Promise<Answer> {
    const length = body === undefined ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    const text = `${head}\r\nHost: 127.0.0.1\r\n${length}\r\n${body ?? ""}`;
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject };
      this.#open().write(text);
    });
  }

  close(): void {
    this.#socket?.destroy();
    this.#socket = undefined;
  }

  #open(): Socket {
    if (this.#socket) return this.#socket;
    const socket = connect({ port: this.#port, host: "127.0.0.1", noDelay: true });
    this.#socket = socket;
    this.#arrived = "";
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => {
      this.#arrived += text;
      this.#read();
    });
    socket.on("error", (error) => this.#done?.reject(error));
    socket.on("close", () => {
      if (this.#socket === socket) this.#socket = undefined;
    });
    return socket;
  }

  #read(): void {
    const end = this.#arrived.indexOf(HEAD_END);
    if (end < 0) return;
    const head = this.#arrived.slice(0, end);
    const whole = end + HEAD_END.length + Number(LENGTH.exec(head)?.[1] ?? 0);
    if (this.#arrived.length < whole) return;
    const body = Buffer.from(this.#arrived.slice(end + HEAD_END.length, whole), "latin1").toString();
    this.#arrived = this.#arrived.slice(whole);
    if (CLOSES.test(head)) this.close();
    const done = this.#done;
    this.#done = undefined;
    done?.resolve({ status: Number(head.slice(9, 12)), body });
  }
}
