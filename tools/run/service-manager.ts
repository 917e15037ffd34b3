// Notifies systemd (sd_notify): ready, alive, status, stopping.
import { execFile } from "node:child_process";
import type { Event } from "./messages.js";

/** Hands one notification over; calls back with the error if that failed. */
export type Send = (variables: readonly string[], done: (error: Error | null) => void) => void;

/** Of the time that systemd waits for a sign of life, how much goes by between two. */
const SHARE = 4;
const LONGEST_STATUS = 200;
/** Events that are a state of the device. */
const STATES = new Set(["online", "offline", "refused", "recovery", "crash"]);

/**
 * The service that this process is. Its watchdog is fed by signs of life of the agent alone
 * (`beat`), never by a timer: what hangs, here, in the worker or in the agent, ends in a restart by
 * systemd.
 */
export class ServiceManager {
  readonly #send: Send;
  readonly #everyMs: number;
  readonly #now: () => number;
  #fed = Number.NEGATIVE_INFINITY;
  #status: string | undefined;
  #ready = false;
  #busy = false;
  #stopping = false;
  #warn: ((line: string) => void) | undefined;

  /** `watchdogMs`: 0 without a watchdog. */
  constructor(send: Send, watchdogMs: number, now: () => number = () => performance.now()) {
    this.#send = send;
    this.#everyMs = watchdogMs > 0 ? watchdogMs / SHARE : 60_000;
    this.#now = now;
  }

  /** Undefined where nobody waits for it. */
  static of(env: NodeJS.ProcessEnv, pid: number): ServiceManager | undefined {
    const { NOTIFY_SOCKET, WATCHDOG_USEC, WATCHDOG_PID } = env;
    if (!NOTIFY_SOCKET) return undefined;
    const isOurs = WATCHDOG_PID === undefined || Number(WATCHDOG_PID) === pid;
    const watchdogMs = isOurs && /^\d+$/.test(WATCHDOG_USEC ?? "") ? Number(WATCHDOG_USEC) / 1000 : 0;
    return new ServiceManager(notifier(env), watchdogMs);
  }

  /** Where it is logged, once, that systemd can't be notified. */
  warnBy(warn: (line: string) => void): void {
    this.#warn = warn;
  }

  /** `line`: the event as text. Ready at the first start: an outage must not fail the service. */
  event({ event }: Event, line: string): void {
    if (STATES.has(event)) this.#status = line.slice(0, LONGEST_STATUS);
    if (event !== "started" || this.#ready) return;
    this.#ready = true;
    this.#status = line.slice(0, LONGEST_STATUS);
    this.#notify("READY=1");
  }

  /** The worker gave a sign of life. `lives`: so did the agent in it. */
  beat(lives: boolean): void {
    if (!lives || !this.#ready || this.#stopping) return;
    const now = this.#now();
    if (now - this.#fed < this.#everyMs || this.#busy) return;
    this.#fed = now;
    this.#notify("WATCHDOG=1");
  }

  stopping(): void {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#status = undefined;
    this.#notify("STOPPING=1");
  }

  #notify(what: string): void {
    const variables = this.#status === undefined ? [what] : [what, `STATUS=${this.#status}`];
    this.#status = undefined;
    this.#busy = true;
    this.#send(variables, (error) => {
      this.#busy = false;
      if (error === null) return;
      this.#warn?.(`systemd can't be notified (${what}): ${error.message.split("\n")[0]}`);
      this.#warn = undefined;
    });
  }
}

const PATIENCE_MS = 10_000;

/** Uses systemd-notify: Node has no Unix datagram sockets. */
const notifier =
  ({ NOTIFY_SOCKET, PATH }: NodeJS.ProcessEnv): Send =>
  (variables, done) =>
    void execFile(
      "systemd-notify",
      [...variables],
      { env: { NOTIFY_SOCKET, PATH }, timeout: PATIENCE_MS },
      (error) => done(error),
    );
