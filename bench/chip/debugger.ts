// A client of the emulator's gdb stub: reads and writes the chip's memory, and stops at an address.
import { once } from "node:events";
import { connect, type Socket } from "node:net";

const LONGEST = 512;
const INTERRUPT = "\x03";

export class Debugger {
  readonly #socket: Socket;
  #received = "";
  #answered: (answer: string) => void = () => {};
  #running: Promise<void> = Promise.resolve();
  #stopping = false;
  /** The chip runs until it comes to `at` or is interrupted. */
  #runs = false;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("latin1").on("data", (text: string) => this.#take(text));
  }

  /** `path`: the emulator's socket. */
  static async open(path: string): Promise<Debugger> {
    const socket = connect(path);
    await once(socket, "connect");
    socket.on("error", () => {});
    const opened = new Debugger(socket);
    // QEMU tells single registers only to a debugger that has asked for its description.
    await opened.#ask("qXfer:features:read:target.xml:0,64");
    return opened;
  }

  /** Words for an emulator that waits for a debugger at `path` before it starts. */
  static words(path: string): readonly string[] {
    return ["-chardev", `socket,id=gdb,path=${path},server=on,wait=off`, "-gdb", "chardev:gdb", "-S"];
  }

  async read(address: number, length: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let at = 0; at < length; at += LONGEST) {
      const size = Math.min(LONGEST, length - at);
      parts.push(Buffer.from(await this.#ask(`m${hex(address + at)},${hex(size)}`), "hex"));
    }
    return Buffer.concat(parts);
  }

  async write(address: number, bytes: Buffer): Promise<void> {
    for (let at = 0; at < bytes.length; at += LONGEST) {
      const part = bytes.subarray(at, at + LONGEST);
      await this.#ask(`M${hex(address + at)},${hex(part.length)}:${part.toString("hex")}`);
    }
  }

  /** A register of 32 bits, by gdb's number. */
  async register(number: number, value?: number): Promise<number> {
    if (value === undefined) return Buffer.from(await this.#ask(`p${hex(number)}`), "hex").readUInt32LE();
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32LE(value);
    await this.#ask(`P${hex(number)}=${bytes.toString("hex")}`);
    return value;
  }

  /** Lets the chip run until `stop`. `there`: called each time that it comes to `at`. */
  async run(at?: number, there: () => Promise<void> = async () => {}): Promise<void> {
    if (at !== undefined) await this.#ask(`Z0,${hex(at)},2`);
    this.#stopping = false;
    this.#running = this.#run(there);
  }

  async #run(there: () => Promise<void>): Promise<void> {
    while (!this.#stopping) {
      this.#runs = true;
      await this.#ask("c");
      this.#runs = false;
      if (!this.#stopping) await there();
    }
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    // An interrupt of a chip that stands is lost, or taken for the answer of another command.
    if (this.#runs) this.#socket.write(INTERRUPT);
    await this.#running;
  }

  close(): void {
    this.#socket.destroy();
  }

  #ask(command: string): Promise<string> {
    const sum = Buffer.from(command).reduce((all, one) => (all + one) & 255, 0);
    return new Promise((resolve, reject) => {
      this.#answered = (answer) =>
        /^E\d\d$/.test(answer) ? reject(new Error(`${command}: ${answer}`)) : resolve(answer);
      this.#socket.write(`$${command}#${sum.toString(16).padStart(2, "0")}`);
    });
  }

  #take(text: string): void {
    this.#received += text;
    const [whole, answer] = /\$([^#]*)#../.exec(this.#received) ?? [];
    if (whole === undefined) return;
    this.#received = "";
    this.#socket.write("+");
    this.#answered(answer!);
  }
}

const hex = (value: number): string => value.toString(16);
