// A board, a time server and a platform that may each be wrong about the time, and certificates
// that come and go. TLS judges by the board's own clock.
import type { Validity } from "../../../hosts/esp32/time-of-day.js";
import { TimeOfDay } from "../../../hosts/esp32/time-of-day.js";
import type { Host, SocketEvent } from "../../../src/port.js";
import { FakeClock } from "../../fakes/clock.js";
import { FakeStore } from "../../fakes/host.js";

export const DAY = 86_400;
export const YEAR = 365.25 * DAY;

/**
 * The CA issues a certificate for `life`, and another after `every`, from `first` on. In seconds.
 */
export interface Plan {
  readonly first: number;
  readonly life: number;
  readonly every: number;
}

export const certificateAt = ({ first, life, every }: Plan, seconds: number): Validity => {
  const from = first + Math.floor((seconds - first) / every) * every;
  return { from, to: from + life };
};

/** Refused unless the board's clock shows a time within the certificate's dates. */
export function openBy(
  clock: Pick<FakeClock, "timer">,
  system: () => number,
  chain: () => Validity,
  tell: (validity: Validity | undefined) => void,
  below?: Host["open"],
): Host["open"] {
  return (name, port, secure, event) => {
    const shown = chain();
    const now = system();
    const isValid = now >= shown.from && now <= shown.to;
    const on = (what: SocketEvent, reason?: string): void => {
      const isJudged = what === "opened" || !isValid;
      tell(isJudged ? shown : undefined);
      event(what, reason);
      tell(undefined);
    };
    if (isValid && below) return below(name, port, secure, on);
    const cancel = clock.timer(100, () =>
      isValid ? on("opened") : on("closed", `certificate: ${now < shown.from ? "not valid yet" : "expired"}`),
    );
    return { write: () => 0, read: () => 0, close: cancel };
  };
}

export class Life {
  readonly clock = new FakeClock();
  readonly store = new FakeStore();
  readonly lines: string[] = [];
  /** Connections that nobody closed. A closed connection of a board keeps memory until then. */
  unclosed = 0;
  readonly built: number;
  readonly plan: Plan;
  /** What the time server says, and what the platform's Date says, in seconds since 1970. */
  served: () => number | undefined = () => undefined;
  dated: () => number | undefined = () => undefined;
  #truth: number;
  #system = { seconds: 0, at: 0 };
  #learned: number | undefined;
  #validity: Validity | undefined;
  #time: TimeOfDay | undefined;

  constructor(built: number, truth: number, plan: Plan) {
    this.built = built;
    this.#truth = truth;
    this.plan = plan;
  }

  get truth(): number {
    return this.#truth + Math.floor(this.clock.now() / 1000);
  }

  get system(): number {
    return this.#system.seconds + Math.floor((this.clock.now() - this.#system.at) / 1000);
  }

  get wall(): number | undefined {
    return this.#learned === undefined ? undefined : this.#learned + Math.floor(this.clock.now() / 1000);
  }

  get floor(): number {
    return this.#time!.floor;
  }

  /** Starts. `system`: what the system's clock shows; undefined: it went on. */
  boot(system?: number): void {
    if (system !== undefined) this.#setSystem(system);
    this.#learned = undefined;
    const clock = Object.assign(Object.create(this.clock), {
      now: () => this.clock.now(),
      wall: () => (this.wall === undefined ? undefined : this.wall * 1000),
      timer: (ms: number, due: () => void) => this.clock.timer(ms, due),
      system: () => this.system,
      assume: (seconds: number) => this.#setSystem(seconds),
      set: (seconds: number) => {
        this.#setSystem(seconds);
        this.#learned = seconds - Math.floor(this.clock.now() / 1000);
      },
    });
    const isOver = (): boolean => this.#time !== time;
    const time = new TimeOfDay(
      clock,
      this.store,
      (_, line) => void this.lines.push(line),
      this.built,
      (done) => void this.clock.timer(50, () => (isOver() ? undefined : done(this.served()))),
      () => this.#validity,
    );
    this.#time = time;
  }

  learn(): void {
    this.#time!.learn();
  }

  /** The days in a drawer pass, with the power off. */
  pass(seconds: number): void {
    this.#truth += seconds;
  }

  /**
   * One connection to the platform, and an answer of its own. `chain`: of another server, which
   * answers nothing.
   */
  async connect(chain?: () => Validity): Promise<boolean> {
    const open = openBy(
      this.clock,
      () => this.system,
      chain ?? (() => certificateAt(this.plan, this.truth)),
      (validity) => {
        this.#validity = validity;
      },
    );
    const counted: Host["open"] = (...to) => {
      const socket = open(...to);
      let isClosed = false;
      this.unclosed++;
      return {
        ...socket,
        close: () => {
          if (!isClosed) this.unclosed--;
          isClosed = true;
          socket.close();
        },
      };
    };
    let end: SocketEvent | undefined;
    const socket = this.#time!.watch(counted)("platform.test", 443, true, (what) => {
      end = what;
    });
    await this.clock.runUntil(() => end !== undefined);
    socket.close();
    const isOnline = end === "opened";
    const date = this.dated();
    if (isOnline && !chain) this.#time!.platformAnswered(date === undefined ? undefined : date * 1000);
    return isOnline;
  }

  #setSystem(seconds: number): void {
    this.#system = { seconds, at: this.clock.now() };
  }
}
