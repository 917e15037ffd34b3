// The loop of an update: one step per state, each of which leads to the next state in the ledger.
import type { Host } from "../../port.js";
import type { Link } from "../link.js";
import type { Job, Loop, Wait } from "../loop.js";
import { askApplication } from "./application.js";
import type { Assignment } from "./assignment.js";
import type { Failure } from "./failures.js";
import { type Image, pass } from "./gate.js";
import type { Ledger } from "./ledger.js";
import type { FirmwareOptions } from "./options.js";
import type { Reporter } from "./reporter.js";
import { restart } from "./restart.js";
import { STATES } from "./states.js";
import { Transfer } from "./transfer.js";
import { Trial } from "./trial.js";

const ALLOW_LIMIT_MS = 60_000;
const LATER_MS = 60_000;
const STORE_RETRY_MS = 60_000;
/** What is not delivered before the restart is lost, if it is not durable. By connections: a poll may hold the only one for 25 s. */
const FLUSH_MS = { 1: 30_000, 2: 5000, 3: 5000 } as const;

export class Updater implements Job {
  readonly #host: Host;
  readonly #link: Link;
  readonly #loop: Loop;
  readonly #options: FirmwareOptions;
  readonly #assignment: Assignment;
  readonly #ledger: Ledger;
  readonly #reporter: Reporter;
  readonly #transfer: Transfer;
  #laterAt = 0;
  readonly trial: Trial;
  #resumed = false;

  constructor(
    link: Link,
    loop: Loop,
    options: FirmwareOptions,
    assignment: Assignment,
    ledger: Ledger,
    reporter: Reporter,
  ) {
    this.#host = link.host;
    this.#link = link;
    this.#loop = loop;
    this.#options = options;
    this.#assignment = assignment;
    this.#ledger = ledger;
    this.#reporter = reporter;
    this.#transfer = new Transfer(link, loop, options, assignment, ledger, reporter);
    this.trial = new Trial(link, loop, options, ledger, reporter);
  }

  begin(): void {
    this.#resumed = false;
    this.#transfer.drop();
    this.trial.reached = false;
    this.#assignment.forget(0);
    this.#ledger.load();
    if (this.#host.slot.state() !== "pending") this.#resume();
  }

  /** Tries a failed update again now, as if it had never failed. */
  retry(): void {
    this.#laterAt = 0;
    if (this.#ledger.state !== "failed") return;
    this.#ledger.pardon();
    this.#assignment.forget(0);
  }

  /** Nothing is to be done before something happens, or a good while is over. */
  get resting(): boolean {
    return this.#loop.resting && !this.#transfer.underWay;
  }

  turn(): Wait | Promise<Wait> {
    if (!this.#resumed) return this.#try();
    if (this.#transfer.underWay) return undefined;
    switch (this.#ledger.state) {
      case "idle":
      case "updated":
      case "failed":
        return this.#decide();
      case "downloading":
        return this.#agrees((image) => this.#download(image));
      case "downloaded":
        return this.#agrees((image) => this.#verify(image));
      case "verified":
        return this.#agrees((image) => this.#activate(image));
      // Only ever found at a start, and left then if the store takes it.
      case "updating":
      case "confirming":
        this.#ledger.resume();
        return STATES[this.#ledger.state].activated ? STORE_RETRY_MS : 0;
    }
  }

  /** A new image is on trial. */
  async #try(): Promise<Wait> {
    await this.trial.run();
    if (this.#link.running) this.#resume();
    return 0;
  }

  #resume(): void {
    this.#resumed = true;
    this.#ledger.resume();
  }

  /** Whether there is something to do, and whether it may be done. */
  #decide(): Wait | Promise<Wait> {
    const assigned = this.#assignment.settled;
    if (!assigned) return undefined;
    const { key } = this.#assignment;
    const { title, version } =
      assigned.kind === "assigned" ? assigned.assignment : { title: "", version: "" };
    const again = this.#assignment.again;
    this.#assignment.again = false;
    if (assigned.kind === "absent") this.#ledger.clear();
    if (assigned.kind === "absent") return undefined;
    if (this.#runs(title, version)) return this.#runsAlready(key, title, version, again);
    if (this.#ledger.record?.key !== key) {
      this.#ledger.begin(key, title, version);
      this.#laterAt = 0;
    } else if (this.#ledger.state === "failed") {
      const wait = this.#retryIn();
      if (wait !== 0) return wait;
    }
    return this.#start();
  }

  /** ms until the failed update may be tried again; undefined: not by itself, or not before the keys were read again. */
  #retryIn(): Wait {
    const { record, retryAt } = this.#ledger;
    if (record?.condemned) return undefined;
    if (retryAt === undefined) return 0;
    const wait = retryAt - this.#host.clock.now();
    if (wait > 0) return wait;
    this.#ledger.retryAt = undefined;
    this.#assignment.forget(0);
    return undefined;
  }

  async #start(): Promise<Wait> {
    const now = this.#host.clock.now();
    if (this.#laterAt > now) return this.#laterAt - now;
    const image = this.#pass();
    const record = this.#ledger.record;
    if (!image || !record) return 0;
    if (image.size === 0) return this.#measure(image);
    const { allow } = this.#options;
    const update = { title: record.title, version: record.version, size: image.size };
    const question = () => (allow ? allow.call(this.#options, update) : true);
    const answer = await askApplication(this.#link, this.#loop, question, ALLOW_LIMIT_MS);
    if (!this.#link.running || this.#assignment.key !== record.key) return 0;
    if (answer === false) return this.#fail("notAllowed");
    if (answer !== true) {
      this.#laterAt = this.#host.clock.now() + LATER_MS;
      return LATER_MS;
    }
    const state = record.offset === image.size ? "downloaded" : "downloading";
    return this.#ledger.enter(state) ? 0 : STORE_RETRY_MS;
  }

  /** Goes on with the image in hand only if it is still the one that is assigned. */
  #agrees(step: (image: Image) => Promise<Wait>): Wait | Promise<Wait> {
    const assigned = this.#assignment.settled;
    if (!assigned || this.#assignment.doubtful) return undefined;
    if (this.#assignment.key !== this.#ledger.record?.key) {
      this.#transfer.drop();
      if (assigned.kind === "absent") return this.#fail("withdrawn");
      this.#ledger.clear();
      return 0;
    }
    if (this.#ledger.isNew) return this.#ledger.enter("updated") ? 0 : STORE_RETRY_MS;
    const image = this.#pass();
    if (!image) return 0;
    return image.size === 0 ? this.#measure(image) : step(image);
  }

  /** Nobody said how long the image is. What comes of it is in the record. */
  #measure(image: Image): Promise<Wait> {
    return this.#transfer.measure(image).then(() => 0);
  }

  async #download(image: Image): Promise<Wait> {
    const whole = await this.#transfer.fetch(image);
    if (whole === undefined) return undefined;
    return !whole || this.#ledger.enter("downloaded", { offset: image.size }) ? 0 : STORE_RETRY_MS;
  }

  async #verify(image: Image): Promise<Wait> {
    if (!(await this.#transfer.verify(image))) return 0;
    return this.#ledger.enter("verified") ? 0 : STORE_RETRY_MS;
  }

  async #activate(image: Image): Promise<Wait> {
    const key = this.#ledger.record?.key;
    this.#ledger.announce("updating");
    try {
      await this.#reporter.flush(FLUSH_MS[this.#link.mode]);
    } catch {
      this.#host.log("warn", "the reports could not be sent before the restart");
    }
    // From here on nothing waits: what is stored, what is activated and the restart belong together.
    if (!this.#link.running || this.#assignment.key !== key || this.#assignment.doubtful) return 0;
    if (!this.#ledger.keep({ state: "updating" })) {
      this.#ledger.keep({ state: "verified" });
      return STORE_RETRY_MS;
    }
    if (!this.#host.slot.activate(image.size)) return this.#fail("unfit");
    await restart(this.#link, this.#loop, this.#reporter);
    return 0;
  }

  #pass(): Image | undefined {
    const assigned = this.#assignment.settled;
    if (!assigned) return undefined;
    const passed = pass(assigned, this.#options, this.#link, this.#ledger.record);
    if (passed.ok) return passed.image;
    this.#fail(passed.failure, passed.detail);
    return undefined;
  }

  /** Nothing is to be done, and whoever assigned it waits to hear so. */
  #runsAlready(key: string, title: string, version: string, again: boolean): Wait {
    const { record, state } = this.#ledger;
    if (state === "updated" && record?.key === key && !again) return undefined;
    if (record?.key !== key) this.#ledger.begin(key, title, version);
    return this.#ledger.enter("updated") ? undefined : STORE_RETRY_MS;
  }

  #fail(failure: Failure, detail = ""): Wait {
    this.#transfer.drop();
    this.#ledger.fail(failure, detail);
    return 0;
  }

  #runs(title: string, version: string): boolean {
    return title === this.#options.title && version === this.#options.version;
  }
}
