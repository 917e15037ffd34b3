/** Prints what a relay would do. */
export class Relay {
  write(on: boolean): void {
    trace(`the relay is ${on ? "on" : "off"}\n`);
  }
}
