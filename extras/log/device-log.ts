// The device's log from afar: its last lines, kept by the machine over a restart and a crash, and read by the RPC `mote.log`.
//
//   params    {"level":"warn","bytes":2000,"since":41}     of this level and above; of so many bytes; the lines after number 41. Each may be left out.
//   answer    LogAnswer in types.ts. Without "since" the newest lines that fit; with it the oldest after that number, so that a follower misses none.
//
// The shared attribute `moteLogLevel` (debug, info, warn, error) sets from which level on lines are kept, for an hour since it was seen. Deleted, it ends at
// once. A restart goes on with the rest of the hour; a board whose power went sees the attribute for the first time.
import type { AgentEvents } from "../../src/events.js";
import type { Host, Redactor } from "../../src/port.js";
import { LineCleaner, SecretRedactor } from "../../src/wire/text/redactor.js";
import { cleaned, type Draft, gather, type Row } from "./answer.js";
import { checkRequest, LEVELS, type LogRequest, levelOf } from "./request.js";
import { Ring, ramOf } from "./ring.js";
import { escaped, fitting } from "./text.js";
import type { LogAgent, LogAnswer, LogHost, LogOptions } from "./types.js";

const ATTRIBUTE = "moteLogLevel";
const METHOD = "mote.log";
const INFO = 1;
const SIZE = 4096;
const MINUTES = 60;
const MINUTE_MS = 60_000;
/** Characters of a line that are escaped: more than find room. */
const BEGINNING = 512;
/** What was asked for last, and is no level; 0: nothing was. */
const OTHER = 0xff;

/** To be made before the agent, which logs from its first moment, and to be attended by it afterwards. */
export class DeviceLog {
  private readonly _host: LogHost;
  /** The host's own, by which a line is shown. */
  private readonly _show: Host["log"];
  private readonly _build: string | null;
  private readonly _ring: Ring;
  private readonly _redactor: Redactor;
  private readonly _cleaner: LineCleaner;
  /** Lines before this number were kept when not all of the secrets were known, which were so many. */
  private _cleanFrom = 0;
  private _known = -1;
  private _crash: string | undefined;
  private _level = INFO;
  private _agent: LogAgent | undefined;
  /** Ends what is listened to at the level `debug` alone. */
  private _unwatch: (() => void)[] = [];
  private _cancel: (() => void) | undefined;

  constructor(host: LogHost, about: LogOptions = {}) {
    this._host = host;
    this._show = host.log;
    this._redactor = host.redactor ?? new SecretRedactor(host);
    this._cleaner = new LineCleaner(this._redactor);
    this._ring = new Ring(host.logMemory ?? ramOf(SIZE), host.random);
    this._resume();
    this._build = about.build ?? null;
    const { lastRun } = host;
    if (!lastRun) return;
    const { reset, crash, place } = lastRun;
    this.keep("info", `start: ${reset}`);
    if (crash === false) return;
    if (place) this.keep("error", `backtrace of ${place.build}: ${place.backtrace}`);
    // It may quote a secret: once the agent is made all are known.
    this._crash = crash;
  }

  /** A line of the agent or the application: to the host as before, unless its level is `debug`, and to those that are kept. */
  readonly log: Host["log"] = (level, line) => {
    const isKept = levelOf(level) >= this._level;
    if (level === "debug" && !isKept) return;
    const clean = this._cleaner.clean(line);
    if (level !== "debug") this._show(level, clean);
    if (isKept) this._append(level, clean);
  };

  /** From now on no line shows this text. */
  readonly conceal = (secret: string): void => this._redactor.conceal(secret);

  /** The same host, from now on with this log in place of its own: for the agent and the application. */
  over<H extends LogHost>(host: H): H {
    const { log, conceal, forget, _redactor: redactor } = this;
    return Object.assign(host, { log, conceal, redactor, forgetLines: forget });
  }

  /** Leaves no byte of the lines, nor the level that was asked for. False if the memory fails. */
  readonly forget = (): boolean => {
    this._ring.seen = 0;
    this._set(INFO, 0);
    return this._ring.forget();
  };

  /** Keeps a line, if the level of now is not above its own, and shows it nowhere else. Of more than 240 bytes of UTF-8 the first are kept. */
  keep(level: Level, line: string): void {
    if (levelOf(level) >= this._level) this._append(level, this._cleaner.clean(line));
  }

  private _append(level: Level, clean: string): void {
    if (this._known !== this._redactor.known) this._cleanFrom = this._ring.next;
    this._known = this._redactor.known;
    this._ring.append(levelOf(level), this._tenths, fitting(this._host, escaped(clean.slice(0, BEGINNING))));
  }

  /** Answers `mote.log`, follows the attribute, and keeps what becomes of the agent. To be called once, before `agent.start()`. */
  attend(agent: LogAgent): void {
    agent.rpc.handle(METHOD, (params) => this.answer(checkRequest(params), agent.rpc.answerBytes), {
      once: false,
    });
    agent.attributes.subscribe(ATTRIBUTE, (value) => this._asked(value));
    if (this._crash !== undefined) this.keep("error", `the run before ended with: ${this._crash}`);
    this._crash = undefined;
    this._agent = agent;
    const info = (line: string): void => this.keep("info", line);
    agent.on("provisioned", ({ deviceName }) => info(`provisioned${after(" as ", deviceName)}`));
    agent.on("online", () => info("online"));
    agent.on("offline", ({ reason }) => info(`offline: ${reason}`));
    agent.on("firmware", (detail) =>
      this.keep(detail.progress === undefined ? "info" : "debug", firmwareLine(detail)),
    );
    this._watch();
  }

  /** For `mote.log`: `most` bytes of JSON, or fewer if fewer were asked for. */
  answer({ level, bytes, since }: LogRequest, most: number): LogAnswer {
    const room = Math.min(bytes, most);
    const made: Draft = {
      log: "",
      build: this._build,
      uptime: this._tenths / 10,
      level: LEVELS[this._level]!,
      lost: 0,
      lines: [],
      since: 0,
      more: false,
    };
    const cleanFrom = this._known === this._redactor.known ? this._cleanFrom : this._ring.next;
    const clean = (lines: readonly Row[]): Row[] => cleaned(this._redactor, lines, cleanFrom);
    gather(this._host, this._ring, { level, bytes: room, since }, made, clean);
    return made;
  }

  /** Lets go of the timer. Lines are kept as before. */
  close(): void {
    this._cancel?.();
  }

  private get _tenths(): number {
    return Math.floor(this._host.clock.now() / 100);
  }

  /** What the run before was asked for. Each start counts as a minute: a device that sleeps would stay at its level for ever. */
  private _resume(): void {
    const { level, minutes } = this._ring;
    if (minutes === 0) return;
    this._set(level - 1, minutes - 1);
  }

  /** The attribute as it is now: a value that was seen before says nothing new, as after a restart. */
  private _asked(value: unknown): void {
    const at = levelOf(value);
    const seen = value === undefined ? 0 : at < 0 ? OTHER : at + 1;
    if (seen === this._ring.seen) return;
    this._ring.seen = seen;
    if (seen === OTHER)
      this.log("warn", `shared attribute "${ATTRIBUTE}" is not taken: ${LEVELS.join(", ")}`);
    if (at >= 0) this.log("info", `lines from ${LEVELS[at]} on are kept, for an hour`);
    this._set(at, at < 0 ? 0 : MINUTES);
  }

  /** Listens to what is kept at the level `debug` while that holds: a board has no memory to spare for it. */
  private _watch(): void {
    const { _agent: agent } = this;
    const isDebug = this._level === 0;
    if (!agent || isDebug === this._unwatch.length > 0) return;
    for (const end of this._unwatch) end();
    this._unwatch = isDebug ? listen(agent, (line) => this.keep("debug", line)) : [];
  }

  /** A level for so many minutes; for none the usual one. */
  private _set(level: number, minutes: number): void {
    this._cancel?.();
    this._cancel = undefined;
    this._level = minutes > 0 ? level : INFO;
    this._watch();
    this._ring.level = this._level + 1;
    this._ring.minutes = minutes;
    this._ring.keep();
    if (minutes > 0) this._cancel = this._host.clock.timer(MINUTE_MS, () => this._set(level, minutes - 1));
  }
}

type Level = Parameters<Host["log"]>[0];

const after = (lead: string, value: string | undefined): string => (value === undefined ? "" : lead + value);

const listen = (agent: LogAgent, keep: (line: string) => void): (() => void)[] => [
  agent.on("delivered", ({ points }) => keep(`delivered: ${points}`)),
  agent.on("attributes", ({ keys, deleted }) =>
    keep(`attributes: ${keys.join(", ")}${after("; deleted: ", deleted.join(", ") || undefined)}`),
  ),
  // Who follows the lines at this level would see that alone.
  agent.on("rpc", ({ stage, id, method, error }) => {
    if (method !== METHOD) keep(`RPC ${id} ${method} ${stage}${after(": ", error)}`);
  }),
  agent.on("error", ({ code }) => keep(`error: ${code}`)),
];

const firmwareLine = ({ state, version, error, progress }: AgentEvents["firmware"]): string =>
  `firmware ${version}: ${state}${progress === undefined ? "" : ` ${progress} %`}${after(": ", error)}`;
