// The cables of a board: its first serial line and, on some chips, native USB.
import type { BoardHardware } from "../board-hardware.js";
import type { BoardHost } from "../host.js";
import { serialPins } from "./pins.js";
import type { SdkModules, Usb, WifiFunctions } from "./sdk-modules.js";
import { SELDOM_MS, UsbLine } from "./usb.js";

export interface Cable {
  /** Returns once the line accepted all bytes, so that no log line gets in between. */
  write(bytes: Uint8Array): void;
}

export interface CableOptions {
  /** `config.commission.serial`: pins, if not the chip's default; false: no serial line. */
  readonly serial?: false | { readonly receive: number; readonly transmit: number } | undefined;
  /** The application runs: answers may take half a second. */
  readonly isRunning: boolean;
}

const BAUD = 115_200;
/** Maximum bytes of one call of ESP-IDF. */
const ROOM = 64;

/**
 * Opens the available cables. `attach` gets each cable and returns its reader. Returns a close
 * function. A cable that cannot be opened is logged, except on a running board.
 */
export const openCables = (
  modules: SdkModules,
  machine: BoardHardware,
  host: BoardHost,
  options: CableOptions,
  attach: (cable: Cable) => (bytes: Uint8Array) => void,
): (() => void)[] => {
  if (options.serial === false) return [];
  const native = machine.idf as unknown as WifiFunctions & Usb;
  const closing: (() => void)[] = [];
  const open = (step: () => (() => void) | undefined): void => {
    try {
      const close = step();
      if (close) closing.push(close);
    } catch (error) {
      // The debugger or the application uses the line.
      if (options.isRunning) return;
      host.log("warn", `commissioning: ${error instanceof Error ? error.message : "unknown"}`);
    }
  };
  open(() => openSerial(modules, native, options, attach));
  open(() => openUsb(native, host, options, attach));
  return closing;
};

/** In a debug build the debugger uses the line. */
const openSerial = (
  modules: SdkModules,
  native: WifiFunctions,
  { serial: given }: CableOptions,
  attach: (cable: Cable) => (bytes: Uint8Array) => void,
): (() => void) | undefined => {
  const pins = given || serialPins(native.mote_chip());
  if (!pins) return undefined;
  const { receive, transmit } = pins;
  const close = modules.serial({ port: 0, baud: BAUD, receive, transmit }, (bytes) => read(bytes));
  const read = attach({ write: (bytes) => sendWhole(native, bytes) });
  return close;
};

const sendWhole = (native: WifiFunctions, bytes: Uint8Array): void => {
  const buffer = new Uint8Array(ROOM);
  for (let at = 0; at < bytes.length; at += ROOM) {
    const part = bytes.subarray(at, at + ROOM);
    buffer.set(part);
    native.mote_serial_send(buffer.buffer, part.length);
  }
};

const openUsb = (
  usb: Usb,
  host: BoardHost,
  { isRunning }: CableOptions,
  attach: (cable: Cable) => (bytes: Uint8Array) => void,
): (() => void) | undefined => {
  let read: ((bytes: Uint8Array) => void) | undefined;
  const line = UsbLine.open(usb, host.clock, (bytes) => read?.(bytes), isRunning ? SELDOM_MS : undefined);
  if (!line) return undefined;
  read = attach(line);
  return () => line.close();
};
