import type { Clock } from "./core/common/clock.js";
import type { DeviceRules } from "./device-api.js";
import type { StateError } from "./state/state.js";

export interface PlatformServerOptions extends DeviceRules {
  /** 0: any free port. Default 8080. */
  port?: number | undefined;
  /** Address to listen on. Default 127.0.0.1: nobody else can reach it. */
  host?: string | undefined;
  /** Certificate and key (PEM), both or none. They enable https. */
  tlsCert?: string | undefined;
  tlsKey?: string | undefined;
  /** Stores all data in this directory. Default: in memory. */
  state?:
    | {
        readonly directory: string;
        /** Called when a change could not be stored; the platform has then closed. */
        readonly onLost?: (error: StateError) => void;
      }
    | undefined;
  /** Password of tenant, customer and system administrator. Default: those of a new server. */
  adminPassword?: string | undefined;
  /** Key and secret of the provisioning profile. Default: the stored ones, or random ones. */
  profile?: { key: string; secret: string } | undefined;
  /** Time until an idle connection is closed, in milliseconds. Default 60,000. */
  idleMs?: number | undefined;
  /** Default: the machine's. */
  clock?: Clock | undefined;
  /** Called with a line, without secrets, for each fault of the local platform's own. */
  log?: ((line: string) => void) | undefined;
}
