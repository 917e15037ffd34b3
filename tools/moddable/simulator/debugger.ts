// The part of xsbug's protocol that reads a simulator's output and why it stopped.
import { EventEmitter, once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";

/** The simulator itself is a machine too. */
const SHELL = "mcsim";
/** Of one element. */
const LONGEST = 1 << 20;

const ELEMENT = /<(\w+)((?: [\w-]+="[^"]*")*)\s*(?:\/>|>([^<]*)<\/\1>)/g;
const ATTRIBUTE = /([\w-]+)="([^"]*)"/g;
const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

export interface DebuggerEvents {
  /** A machine was started. */
  begun: [];
  /** A line that the program printed. */
  line: [line: string];
  /** The program stopped: an exception that nobody caught, or the machine gave up. */
  broken: [reason: string];
  /** The machine is gone. */
  ended: [];
}

/** Listens on loopback for the machines of one simulator. */
export class Debugger extends EventEmitter<DebuggerEvents> {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor() {
    super();
    this.#server = createServer((socket) => {
      this.#sockets.add(socket);
      socket.on("close", () => this.#sockets.delete(socket));
      new Machine(socket, this);
    });
  }

  static async listen(): Promise<Debugger> {
    const made = new Debugger();
    made.#server.listen(0, "127.0.0.1");
    await once(made.#server, "listening");
    return made;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
  }
}

class Machine {
  readonly #socket: Socket;
  readonly #listener: Debugger;
  #text = "";
  #line = "";
  #title = SHELL;

  constructor(socket: Socket, listener: Debugger) {
    this.#socket = socket;
    this.#listener = listener;
    socket.setEncoding("utf8");
    socket.on("data", (text: string) => this.#read(text));
    socket.on("error", () => {});
    socket.on("close", () => this.#shell || listener.emit("ended"));
  }

  get #shell(): boolean {
    return this.#title === SHELL;
  }

  #read(text: string): void {
    this.#text += text;
    let end = 0;
    for (const match of this.#text.matchAll(ELEMENT)) {
      end = match.index + match[0].length;
      this.#element(match[1]!, attributesOf(match[2] ?? ""), unescaped(match[3] ?? ""));
    }
    this.#text = this.#text.slice(end);
    if (this.#text.length > LONGEST) this.#text = "";
  }

  #element(name: string, attributes: Readonly<Record<string, string>>, text: string): void {
    if (name === "login") {
      this.#title = attributes.name ?? "";
      this.#say("<set-all-breakpoints></set-all-breakpoints>");
      this.#say("<go/>");
      if (!this.#shell) this.#listener.emit("begun");
    } else if (name === "break") {
      if (!this.#shell) this.#listener.emit("broken", text.trim());
      this.#say("<go/>");
    } else if (!this.#shell && name === "log") this.#print(text);
  }

  #print(text: string): void {
    const lines = (this.#line + text).split("\n");
    this.#line = lines.pop() ?? "";
    for (const line of lines) this.#listener.emit("line", line);
  }

  #say(command: string): void {
    this.#socket.write(`\r\n${command}\r\n`);
  }
}

function attributesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(ATTRIBUTE)].map(([, name, value]) => [name, unescaped(value!)]),
  );
}

function unescaped(text: string): string {
  return text.replace(/&(?:#x([0-9a-fA-F]+)|#([0-9]+)|(\w+));/g, (_, hex, decimal, name) =>
    name ? (ENTITIES[name] ?? "") : String.fromCodePoint(hex ? Number.parseInt(hex, 16) : Number(decimal)),
  );
}
