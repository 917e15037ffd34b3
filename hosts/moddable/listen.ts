import Listener from "embedded:io/socket/listener";
import type TCP from "embedded:io/socket/tcp";

/**
 * Listens on all interfaces of the machine; the SDK has no other way. `accept` gets the address and
 * the connection for TcpSocket; false closes it. Returns a stop function. Throws if the port is in
 * use.
 */
export const listen = (port: number, accept: (address: string, visitor: TCP) => boolean): (() => void) => {
  const take = (visitor: TCP): void => {
    let isTaken = false;
    try {
      isTaken = accept(visitor.remoteAddress ?? "", visitor);
    } finally {
      if (!isTaken) visitor.close();
    }
  };
  const next = (): void => {
    try {
      const visitor = listener.read();
      if (visitor) take(visitor);
    } catch {
      // An exception must not reach the SDK. The visitor retries.
    }
  };
  const listener = new Listener({
    port,
    onReadable: (count) => {
      for (; count > 0; count--) next();
    },
  });
  return () => listener.close();
};
