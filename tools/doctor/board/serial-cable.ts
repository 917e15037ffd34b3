// A board at a serial port: esptool identifies and resets it; its lines are read in between.
import {
  type Esptool,
  type FoundBoard,
  findEsptool,
  identify,
  restart,
} from "../../moddable/flash/esptool.js";
import { checkPort, choosePort, listPorts } from "../../moddable/flash/ports.js";
import { ReturningPort } from "../../moddable/flash/returning-port.js";
import { followSerial } from "../../moddable/flash/serial-log.js";
import type { Cable } from "./checks.js";

export class SerialCable implements Cable {
  readonly lines: string[] = [];
  readonly #esptool: Esptool;
  readonly #port: ReturningPort;
  #stop: AbortController | undefined;
  #following: Promise<void> | undefined;

  /** Throws SdkError with the way on without esptool, a port, or the right to open it. */
  static async open(given: string | undefined, note: (line: string) => void): Promise<SerialCable> {
    const esptool = await findEsptool();
    const port = choosePort(given, given === undefined ? listPorts() : undefined);
    checkPort(port);
    return new SerialCable(esptool, new ReturningPort(port, note));
  }

  private constructor(esptool: Esptool, port: ReturningPort) {
    this.#esptool = esptool;
    this.#port = port;
  }

  identify(): Promise<FoundBoard> {
    return this.#port.ask((path) => identify(this.#esptool, path));
  }

  async restart(): Promise<void> {
    await this.close();
    await this.#port.ask((path) => restart(this.#esptool, path));
    const stop = new AbortController();
    this.#stop = stop;
    this.#following = followSerial({
      cable: this.#port,
      line: (text) => void this.lines.push(text),
      note: () => {},
      stop: stop.signal,
    });
    // A port that can't be read shows no lines, and the check says so.
    this.#following.catch(() => {});
  }

  /** Lets go of the port. */
  async close(): Promise<void> {
    this.#stop?.abort();
    await this.#following?.catch(() => {});
    this.#stop = this.#following = undefined;
  }
}
