import type { Clock } from "./core/common/clock.js";
import type { RateLimitSpecs } from "./core/rate-limits.js";
import type { TableView } from "./core/reports/table-views.js";
import type { StateError } from "./state/database.js";

export interface PlatformServerOptions {
  /** 0: any free one. Default 8080. */
  port?: number;
  /** Address to listen on. Default 127.0.0.1: nobody else can reach it. */
  host?: string;
  /** Certificate and key as PEM text: https in place of http. Both or none. */
  tlsCert?: string;
  tlsKey?: string;
  /**
   * Keeps devices, credentials, attributes, series, packages and persistent RPCs in this directory.
   * Default: in memory.
   */
  state?: {
    readonly directory: string;
    readonly mostPages?: number;
    /** Called when a change could not be kept; the platform has then closed. */
    readonly onLost?: (error: StateError) => void;
  };
  /**
   * Of the tenant, the customer and the system's administrator alike. Default: the well-known ones.
   */
  adminPassword?: string;
  /**
   * Whether client-side RPCs are answered, as by a rule chain that knows two methods. Default
   * false, as on a stock server.
   */
  ruleChain?: boolean;
  /**
   * Provisioning key and secret of the profile that devices may create themselves with. Default:
   * those that were kept, or random ones.
   */
  profile?: { key: string; secret: string };
  /**
   * When a device's open request ends with 503, in milliseconds. Default 30,000; 300,000 behind a
   * proxy.
   */
  asyncCapMs?: number;
  /**
   * When a device's open request ends with 408 if it doesn't say itself, in milliseconds. Default
   * 60,000.
   */
  requestTimeoutMs?: number;
  /** How long after the 200 a device's data is stored, in milliseconds. Default 0. */
  lagMs?: number;
  /** What devices may send: `{"device-points":"100:1,3000:60"}`. Default: anything. */
  rateLimits?: RateLimitSpecs;
  /**
   * As behind the proxy that the platform is shipped with: what is open for 50 s ends with 504.
   * Default false.
   */
  behindProxy?: boolean;
  /** The table views of the report API. Default: one over all devices. */
  views?: readonly TableView[];
  /** A directory that `mote esp32 --web` wrote: /flash writes it to boards. */
  flashPage?: string;
  /** When a connection on which nothing goes on is closed, in milliseconds. Default 60,000. */
  idleMs?: number;
  /** Draws the order of attributes, which is arbitrary on a server. Default 1. */
  seed?: number;
  /** Default: the machine's. */
  clock?: Clock;
  /**
   * Called, with a line without secrets, at faults of the local platform's own. Default: nobody.
   */
  log?: (line: string) => void;
}
