import type { Host } from "../../src/port.js";
import { TcpSocket } from "./tcp.js";
import { type TlsOptions, TlsSocket } from "./tls.js";

/** `open` of the port over the SDK's TCP and TLS. */
export const opener = (options: TlsOptions): Host["open"] => {
  return (name, port, secure, event) =>
    secure ? new TlsSocket(name, port, options, event) : new TcpSocket(name, port, event, options.keep);
};
