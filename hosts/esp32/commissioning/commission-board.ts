/// <reference path="../sdk.d.ts" />
/// <reference path="./sdk.d.ts" />
// `mote/commission` on a board: the SDK's modules for configuration.ts. Tests cannot load this
// file.
import Digital from "embedded:io/digital";
import Serial from "embedded:io/serial";
import UDP from "embedded:io/socket/udp";
import { listen } from "../../moddable/listen.js";
import type { Extras } from "../start.js";
import { commissionBy } from "./configuration.js";
import type { SdkModules } from "./sdk-modules.js";

/** The SDK's callbacks must not throw, which would restart the board. */
const ignoringErrors = (step: () => void): void => {
  try {
    step();
  } catch {
    // The visitor retries.
  }
};

const modules: SdkModules = {
  listen,
  datagrams(port, received) {
    const udp = new UDP({
      port,
      onReadable: (count: number) =>
        ignoringErrors(() => {
          for (; count > 0; count--) {
            const packet = udp.read();
            if (!packet) return;
            const { address, port: from } = packet;
            received(new Uint8Array(packet), (bytes) => udp.write(bytes, address, from));
          }
        }),
    });
    return () => udp.close();
  },
  serial({ port, receive, transmit, baud }, received) {
    const serial = new Serial({
      port,
      receive,
      transmit,
      baud,
      format: "buffer",
      onReadable: () =>
        ignoringErrors(() => {
          const bytes = serial.read();
          if (bytes) received(new Uint8Array(bytes));
        }),
    });
    return () => serial.close();
  },
  pin(pin) {
    const input = new Digital({ pin, mode: Digital.InputPullUp });
    return { read: () => input.read() };
  },
};

export const commission: Required<Pick<Extras, "commission">> = {
  commission: (machine, host, go) => commissionBy(modules, machine, host, go),
};
