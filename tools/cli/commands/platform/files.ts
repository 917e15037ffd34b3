// Reads and checks the files of `mote platform` before anything starts.
import { readFileSync } from "node:fs";
import { createSecureContext } from "node:tls";
import { codeOf } from "../../../../hosts/node/files.js";
import type { TableView } from "../../../platform/core/reports/table-views.js";
import { certificates, UsageError } from "../../usage.js";

interface Pems {
  readonly tlsCert?: string;
  readonly tlsKey?: string;
}

/** Certificate and key. */
export function certificate({ tlsCert, tlsKey }: Pems): Pems {
  if (tlsCert === undefined || tlsKey === undefined) return {};
  const pems = { tlsCert: load("--tls-cert", tlsCert), tlsKey: load("--tls-key", tlsKey) };
  certificates("--tls-cert", pems.tlsCert);
  try {
    createSecureContext({ cert: pems.tlsCert, key: pems.tlsKey });
  } catch {
    throw new UsageError("--tls-key is not the key of --tls-cert (expected PEM without a passphrase)");
  }
  return pems;
}

export async function savedViews(path: string): Promise<TableView[]> {
  const { readViews } = await import("../../../platform/core/reports/table-views.js");
  let json: unknown;
  const text = load("--views", path);
  try {
    json = JSON.parse(text);
  } catch {
    throw new UsageError(`--views ${path} is not JSON`);
  }
  try {
    return readViews(json);
  } catch (error) {
    throw new UsageError(`--views ${path}: ${error instanceof Error ? error.message : "unknown"}`);
  }
}

function load(option: string, path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageError(`cannot read ${option} ${path} (${codeOf(error)})`);
  }
}
