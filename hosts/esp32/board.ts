/// <reference path="./sdk.d.ts" />
// Connects the host to the SDK's modules, and provides `start` for an application's main. Tests
// cannot load this file.

import UDP from "embedded:io/socket/udp";
import WiFi from "embedded:network/interface/wifi";
import flash from "embedded:storage/flash";
import keyValue from "embedded:storage/key-value";
import config from "mc/config";
import type { Agent } from "mote";
import Digest from "mote/native-digest";
import nativeFunctions from "mote/native-functions";
import Tls from "mote/native-tls";
import type { Host } from "../../src/port.js";
import { joinExtras, type Program } from "../device/extras.js";
import { builtInAuthorities } from "../moddable/authorities.js";
import { XsClock } from "../moddable/clock.js";
import { digester } from "../moddable/digest.js";
import { log } from "../moddable/log.js";
import { resolve } from "../moddable/resolve.js";
import { TcpSocket } from "../moddable/tcp.js";
import { decode, encode } from "../moddable/text.js";
import type { BoardHardware, Idf } from "./board-hardware.js";
import { randomFill } from "./host.js";
import { askTimeServer, type Datagrams } from "./network/time-server.js";
import { type TlsModules, TlsSocket } from "./network/tls-socket.js";
import { type Extras, startBoard } from "./start.js";

/** Build time of the image: preloaded modules are evaluated at build time. */
const BUILT = Math.floor(Date.now() / 1000);
/** Limit of unread bytes of a connection. The rest waits in lwIP's memory, outside the engine's. */
const KEEP = 1024;
const TIME_SERVER = "pool.ntp.org";

/** Call once, in the default function of main. */
export const start = (program: Program<Extras>): Agent | undefined => {
  const extras = joinExtras(program);
  return startBoard(machine(), program.application, extras, program.firmware);
};

const machine = (): BoardHardware => {
  const builtIn = builtInAuthorities(config.ca);
  const clock = new XsClock();
  const idf = nativeFunctions() as Idf;
  const random = (into: Uint8Array): void => randomFill(into, idf);
  return {
    clock,
    open: opener(builtIn),
    trusting: opener,
    authorities: builtIn,
    adoptSocket: (visitor, event) => new TcpSocket(visitor as never, 0, event),
    digest: digester(Digest),
    encode,
    decode,
    log,
    idf,
    storage: (name) => keyValue.open({ path: name, mode: "r+", format: "buffer" }) as never,
    partition: (label) => flash.open({ path: label, mode: "r+" }) as never,
    makeRadio: (changed) => new WiFi({ onChanged: () => changed() }) as never,
    askTime: (done) => askTimeServer(config.sntp ?? TIME_SERVER, datagrams, { clock, random }, done),
    onAbort: (hook) => Object.assign(globalThis, { abort: hook }),
    built: BUILT,
    config,
  };
};

const TLS: TlsModules = {
  connect: (name, address, port, list, event) => new Tls(name, address, port, list, event),
  resolve,
};

const opener =
  (list: readonly Uint8Array[]): Host["open"] =>
  (name, port, secure, event) =>
    secure ? new TlsSocket(name, port, list, event, TLS) : new TcpSocket(name, port, event, KEEP);

/** The SDK's callbacks must not throw, which would restart the board. */
const datagrams: Datagrams = {
  resolve,
  open(received) {
    const udp = new UDP({
      onReadable(count: number) {
        try {
          for (; count > 0; count--) {
            const packet = udp.read();
            if (packet) received(new Uint8Array(packet));
          }
        } catch {
          // Retried shortly.
        }
      },
    });
    return udp;
  },
};
