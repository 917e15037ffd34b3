// A new image is on trial: it is kept once it reached the platform with its token and passed the application's own check.
import type { Link } from "../link.js";
import type { Signal } from "../signal.js";
import { askApplication } from "./application.js";
import type { Failure } from "./failures.js";
import type { Ledger } from "./ledger.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { restart } from "./restart.js";

/** While the platform answers. */
const ONLINE_LIMIT_MS = 600_000;
/** While it does not: the network may be down, or the new image may be what can't use it. */
const OFFLINE_LIMIT_MS = 3_600_000;
const SELF_TEST_MS = 300_000;
const TICK_MS = 5000;
const STORE_RETRY_MS = 60_000;
const CONFIRM_TRIES = 10;

export class Trial {
  readonly #link: Link;
  readonly #signal: Signal;
  readonly #options: FirmwareOptions;
  readonly #ledger: Ledger;
  readonly #reporter: Reporter;
  /** The platform took a request with the token, in this run. */
  reached = false;
  /** No longer than this, whether the platform answers or not. */
  limitMs = OFFLINE_LIMIT_MS;

  constructor(link: Link, signal: Signal, options: FirmwareOptions, ledger: Ledger, reporter: Reporter) {
    this.#link = link;
    this.#signal = signal;
    this.#options = options;
    this.#ledger = ledger;
    this.#reporter = reporter;
  }

  /** Resolves when the image is confirmed, or the link stopped. */
  async run(): Promise<void> {
    const { state } = this.#ledger;
    // Without the record of an update it is an image that came another way: it is tried all the same.
    if (state === "updating" || state === "confirming") {
      if (!this.#ledger.isNew) return this.#back("misnamed");
      this.#ledger.keep({ state: "confirming" });
    }
    const verdict = (await this.#untilReached()) ?? (await this.#testItself());
    if (!this.#link.running) return;
    if (verdict) return this.#back(verdict);
    for (let tries = 1; this.#link.running && !this.#confirm(); tries++) {
      if (tries === CONFIRM_TRIES) return this.#back("notKept");
      await this.#signal.wait(STORE_RETRY_MS);
    }
  }

  /** Not even a host that throws against its contract may leave the image between the two. */
  #confirm(): boolean {
    try {
      return this.#link.host.slot.confirm();
    } catch {
      return false;
    }
  }

  /** Undefined, or why the image is given up. */
  async #untilReached(): Promise<Failure | undefined> {
    const { clock } = this.#link.host;
    let last = clock.now();
    let onlineMs = 0;
    let offlineMs = 0;
    while (!this.reached && this.#link.running) {
      // A token that this image does not present as it must is refused: that is an answer, too.
      const online = this.#link.answers;
      await this.#signal.wait(TICK_MS);
      const passed = clock.now() - last;
      last += passed;
      if (online) onlineMs += passed;
      else offlineMs += passed;
      if (onlineMs >= Math.min(ONLINE_LIMIT_MS, this.limitMs)) return "notReached";
      if (offlineMs >= this.limitMs) return "offline";
    }
    return undefined;
  }

  async #testItself(): Promise<Failure | undefined> {
    const test = this.#options.selfTest;
    if (!test || !this.#link.running) return undefined;
    const question = () => test.call(this.#options);
    const good = await askApplication(
      this.#link,
      this.#signal,
      question,
      Math.min(SELF_TEST_MS, this.limitMs),
    );
    return good === true ? undefined : "selfTest";
  }

  /** Returns to the image before this one, which reports why. */
  async #back(failure: Failure): Promise<void> {
    const { host } = this.#link;
    host.log("error", "the new firmware is given up; the image before it returns");
    this.#ledger.keep({ ...this.#ledger.failed(failure, ""), at: 0 });
    host.slot.revert();
    await restart(this.#link, this.#signal, this.#reporter);
  }
}
