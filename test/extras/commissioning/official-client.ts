// The official client of Improv (npm: improv-wifi-serial-sdk), whose serial port is whatever the
// test wires it to.
import { build } from "esbuild";

/** What is used of it. */
export interface OfficialClient {
  readonly state: number | undefined;
  readonly nextUrl: string | undefined;
  readonly error: number;
  readonly info:
    | {
        readonly name: string;
        readonly firmware: string;
        readonly version: string;
        readonly chipFamily: string;
      }
    | undefined;
  initialize(timeoutMs?: number): Promise<unknown>;
  requestCurrentState(): Promise<void>;
  provision(ssid: string, password: string, timeoutMs?: number): Promise<void>;
  scan(timeoutMs?: number): Promise<{ name: string; rssi: number; secured: boolean }[]>;
  getHostname(): Promise<string>;
  close(): Promise<void>;
}

interface Bundle {
  readonly ImprovSerial: new (port: unknown, logger: unknown) => OfficialClient;
}

/** What the client says of a frame that something got into. */
const DAMAGED = /checksum|unsupported version|Unable to handle/;
let loaded: Promise<Bundle> | undefined;

/** As a page loads it: its files name each other as only a bundler finds them. */
function load(): Promise<Bundle> {
  loaded ??= (async () => {
    const { outputFiles } = await build({
      stdin: { contents: 'export * from "improv-wifi-serial-sdk/dist/serial.js";', resolveDir: "." },
      ...{ bundle: true, format: "esm", write: false, logLevel: "error" },
    });
    const script = Buffer.from(outputFiles?.[0]?.contents ?? "").toString("base64");
    return (await import(`data:text/javascript;base64,${script}`)) as Bundle;
  })();
  return loaded;
}

/**
 * A client on a new port. `send`: bytes to the device. What the device sends goes to `received`.
 */
export async function officialClient(send: (bytes: Uint8Array) => void): Promise<{
  client: OfficialClient;
  received: (bytes: Uint8Array) => void;
  /** Frames that the client threw away: something of the device got among their bytes. */
  damaged: string[];
}> {
  const { ImprovSerial } = await load();
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const port = {
    readable: new ReadableStream<Uint8Array>({
      start: (one) => {
        controller = one;
      },
      // The client is closed; the device may go on speaking.
      cancel: () => {
        controller = undefined;
      },
    }),
    writable: new WritableStream<Uint8Array>({ write: (bytes) => send(bytes) }),
  };
  const received = (bytes: Uint8Array): void => controller?.enqueue(bytes);
  const damaged: string[] = [];
  const error = (text: unknown): void => {
    if (DAMAGED.test(String(text))) damaged.push(String(text));
  };
  return { client: new ImprovSerial(port, { log() {}, debug() {}, error }), received, damaged };
}
