// The worker's end of the pipe to its supervisor. Each message is one line: the secret of this
// start, a space, JSON. Node's own IPC will not do: a program that writes to its file descriptor
// can end the supervisor, and its exit codes and messages cannot be told from the agent's.
import { Socket } from "node:net";
import { eachLine } from "./each-line.js";
import type { FromWorker, ToWorker } from "./messages.js";

/** File descriptor of the pipe in the worker. */
export const CHANNEL_FD = 3;
/** In characters. A longer message is lost. */
export const LONGEST_MESSAGE = 4 * 1024 * 1024;

// Taken before an image is loaded, which may replace them.
const { stringify, parse } = JSON;
const later = setTimeout;
const exitProcess = process.exit.bind(process);

/** `receive` gets each message; `gone` is called once the supervisor closed the pipe. */
export class SupervisorChannel {
  readonly #socket = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });
  readonly #write = this.#socket.write.bind(this.#socket);
  #secret: string | undefined;
  #isOpen = true;

  constructor(receive: (message: ToWorker) => void, gone: () => void) {
    const close = (): void => {
      if (!this.#isOpen) return;
      this.#isOpen = false;
      gone();
    };
    for (const event of ["error", "end", "close"]) this.#socket.on(event, close);
    eachLine(
      this.#socket,
      (line) => {
        const message = parse(line) as ToWorker;
        if (message.kind === "start") this.#secret ??= message.secret;
        receive(message);
      },
      LONGEST_MESSAGE,
    );
  }

  /** Nothing is sent before the start message, which has the secret. */
  send(message: FromWorker, sent: () => void = () => {}): void {
    if (this.#isOpen && this.#secret !== undefined)
      // An image may have written half a line before.
      this.#write(`\n${this.#secret} ${stringify(message)}\n`, () => sent());
    else sent();
  }

  /** Ends this process once what was sent has left it. */
  exit(lastMs: number): void {
    later(exitProcess, lastMs, 0);
    if (this.#isOpen) this.#write("\n", () => exitProcess(0));
    else exitProcess(0);
  }
}
