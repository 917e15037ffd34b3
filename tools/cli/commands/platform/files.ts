import { createSecureContext } from "node:tls";
import { certificates, readInput, UsageError } from "../../usage.js";

interface Pems {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Certificate and key. */
export function certificate({ tlsCert, tlsKey }: Pems): Pems {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  const read = (path: string, option: string): string => readInput(path, option).toString();
  const pems = { tlsCert: read(tlsCert, "--tls-cert"), tlsKey: read(tlsKey, "--tls-key") };
  certificates("--tls-cert", pems.tlsCert);
  try {
    createSecureContext({ cert: pems.tlsCert, key: pems.tlsKey });
  } catch {
    throw new UsageError("--tls-key is not the key of --tls-cert (expected PEM without a passphrase)");
  }
  return pems;
}
