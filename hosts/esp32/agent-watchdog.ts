import type { Host } from "../../src/port.js";

const CHECK_MS = 60_000;

/**
 * Restarts a board whose agent fell silent. The chip's watchdog sees an engine that is stuck, but
 * not one that waits forever. With a network, a running agent uses a connection at least every ten
 * minutes, even when the platform refuses it.
 */
export class AgentWatchdog {
  private readonly _host: Pick<Host, "clock" | "log" | "restart">;
  private readonly _silenceMs: number;
  private readonly _due: () => boolean;
  private _lastActivity: number;

  /** `due`: whether activity can be expected: there is a network and the agent runs. */
  constructor(host: Pick<Host, "clock" | "log" | "restart">, silenceMs: number, due: () => boolean) {
    this._host = host;
    this._silenceMs = silenceMs;
    this._due = due;
    this._lastActivity = host.clock.now();
    this._checkLater();
  }

  /** Wraps `open`, so that every connection and its events count as activity. */
  watch(open: Host["open"]): Host["open"] {
    return (name, port, secure, event) => {
      this._noteActivity();
      return open(name, port, secure, (what, reason) => {
        this._noteActivity();
        event(what, reason);
      });
    };
  }

  private _noteActivity(): void {
    this._lastActivity = this._host.clock.now();
  }

  private _checkLater(): void {
    this._host.clock.timer(CHECK_MS, () => this._check());
  }

  private _check(): void {
    if (!this._due()) this._noteActivity();
    else if (this._host.clock.now() - this._lastActivity > this._silenceMs) {
      this._host.log("error", "the agent made no connection for too long: restarting");
      this._host.restart("silent");
      return;
    }
    this._checkLater();
  }
}
