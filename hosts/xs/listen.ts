import Listener from "embedded:io/socket/listener";
import type TCP from "embedded:io/socket/tcp";

/**
 * Takes visitors, on every interface of the machine, as the SDK knows no other way. `accept` is handed the address and the connection, for TcpSocket;
 * false: it is closed. Returns what ends it. Throws if the port is taken.
 */
export const listen = (port: number, accept: (address: string, visitor: TCP) => boolean): (() => void) => {
  const take = (visitor: TCP): void => {
    if (!accept(visitor.remoteAddress ?? "", visitor)) visitor.close();
  };
  const listener = new Listener({
    port,
    onReadable: (count) => {
      try {
        for (; count > 0; count--) {
          const visitor = listener.read();
          if (visitor) take(visitor);
        }
      } catch {
        // Nothing may reach the SDK. The visitor asks again.
      }
    },
  });
  return () => listener.close();
};
