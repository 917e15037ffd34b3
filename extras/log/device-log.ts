// The device log: the last lines, stored over restarts and crashes, and read by the RPC `mote.log`.
//
//   params    {"level":"warn","bytes":2000,"since":41}, all optional: lowest level, maximum size of
//             the answer, and the number after which lines are returned
//   answer    LogAnswer in types.ts. Without "since" the newest lines that fit; with it the oldest
//             ones after that number, so that a follower misses none.
//
// The shared attribute `moteLogLevel` (debug, info, warn, error) sets the level of stored lines for
// an hour; deleting it ends that. A restart continues the hour; after a power loss it starts again.
import { updateWord } from "../../src/agent/firmware/state-words.js";
import type { AgentEvents } from "../../src/events.js";
import type { Host, Redactor } from "../../src/port.js";
import { SecretRedactor } from "../../src/wire/text/redactor.js";
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
/** Limit of escaped characters in a line; more would not fit. */
const BEGINNING = 512;
/** Stored request for an invalid level; 0: no request. */
const OTHER = 0xff;

/** Create it before the agent, which logs from the start; attach the agent afterwards. */
export class DeviceLog {
  private readonly _host: Pick<LogHost, "clock" | "encode" | "decode">;
  /** The host's own log function, which shows lines. */
  private readonly _show: Host["log"];
  private readonly _build: string | null;
  private readonly _ring: Ring;
  private readonly _redactor: Redactor;
  private _crash: string | undefined;
  private _level = INFO;
  private _agent: LogAgent | undefined;
  /** Removes the listeners of level `debug`. */
  private _unwatch: (() => void)[] = [];
  private _cancel: (() => void) | undefined;

  constructor(host: LogHost, about: LogOptions = {}) {
    const { clock, encode, decode } = host;
    // Not the whole host, which `over` replaces: a board frees it.
    this._host = { clock, encode, decode };
    this._show = host.log;
    this._redactor = host.redactor ?? new SecretRedactor();
    this._ring = new Ring(host.logMemory ?? ramOf(SIZE), host.random);
    this._resume();
    this._build = about.build ?? null;
    const { lastRun } = host;
    if (!lastRun) return;
    const { reset, crash, place } = lastRun;
    this.store("info", `start: ${reset}`);
    if (crash === false) return;
    if (place) this.store("error", `backtrace of ${place.build}: ${place.backtrace}`);
    // The crash may contain a secret, and all secrets are known only after the agent was created.
    this._crash = crash;
  }

  /**
   * Logs a line of the agent or application: to the host, unless its level is `debug`, and to the
   * stored lines.
   */
  readonly log: Host["log"] = (level, line) => {
    const isKept = levelOf(level) >= this._level;
    if (level === "debug" && !isKept) return;
    const clean = this._redactor.clean(line);
    if (level !== "debug") this._show(level, clean);
    if (isKept) this._append(level, clean);
  };

  /** Hides this text in all later lines. */
  readonly conceal = (secret: string): void => this._redactor.conceal(secret);

  /** A copy of `host` with this log instead of its own, for the agent and the application. */
  over<H extends LogHost>(host: H): H {
    const { log, conceal, forget, _redactor: redactor } = this;
    return { ...host, log, conceal, redactor, forgetLines: forget };
  }

  /** Erases all lines and the requested level. False if the memory fails. */
  readonly forget = (): boolean => {
    this._ring.markSeen(0);
    this._set(INFO, 0);
    return this._ring.forget();
  };

  /**
   * Stores a line if its level is enabled, without showing it. Stores at most 240 bytes of UTF-8.
   */
  store(level: Level, line: string): void {
    if (levelOf(level) >= this._level) this._append(level, this._redactor.clean(line));
  }

  private _append(level: Level, clean: string): void {
    this._ring.append(levelOf(level), this._tenths, fitting(this._host, escaped(clean.slice(0, BEGINNING))));
  }

  /**
   * Answers `mote.log`, follows the attribute, and records the agent's events. Call once, before
   * `agent.start()`.
   */
  attach(agent: LogAgent): void {
    agent.rpc.handle(METHOD, (params) => this.answer(checkRequest(params), agent.rpc.answerBytes), {
      once: false,
    });
    agent.attributes.subscribe(ATTRIBUTE, (value) => this._asked(value));
    if (this._crash !== undefined) this.store("error", `the run before ended with: ${this._crash}`);
    this._crash = undefined;
    this._agent = agent;
    const info = (line: string): void => this.store("info", line);
    agent.on("provisioned", ({ deviceName }) => info(`provisioned${after(" as ", deviceName)}`));
    agent.on("online", () => info("online"));
    agent.on("offline", ({ reason }) => info(`offline: ${reason}`));
    agent.on("firmware", (detail) =>
      this.store(detail.progress === undefined ? "info" : "debug", firmwareLine(detail)),
    );
    this._watch();
  }

  /** Answers `mote.log` with at most `most` bytes of JSON, or fewer if requested. */
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
    const clean = (lines: readonly Row[]): Row[] => cleaned(this._redactor, lines);
    gather(this._host, this._ring, { level, bytes: room, since }, made, clean);
    return made;
  }

  /** Cancels the timer. Lines are still stored. */
  close(): void {
    this._cancel?.();
  }

  private get _tenths(): number {
    return Math.floor(this._host.clock.now() / 100);
  }

  /**
   * Restores the level of the last run. Each start counts as a minute; otherwise a sleeping device
   * would keep its level forever.
   */
  private _resume(): void {
    const { level, minutes } = this._ring;
    if (minutes === 0) return;
    this._set(level - 1, minutes - 1);
  }

  /** Reads the attribute. A value seen before is ignored, as after a restart. */
  private _asked(value: unknown): void {
    const at = levelOf(value);
    const seen = value === undefined ? 0 : at < 0 ? OTHER : at + 1;
    if (seen === this._ring.seen) return;
    this._ring.markSeen(seen);
    if (seen === OTHER)
      this.log("warn", `shared attribute "${ATTRIBUTE}" is invalid: expected ${LEVELS.join(", ")}`);
    if (at >= 0) this.log("info", `storing lines of level ${LEVELS[at]} and above for an hour`);
    this._set(at, at < 0 ? 0 : MINUTES);
  }

  /**
   * Listens for `debug` events only while that level is active, because a board has no spare
   * memory.
   */
  private _watch(): void {
    const { _agent: agent } = this;
    const isDebug = this._level === 0;
    if (!agent || isDebug === this._unwatch.length > 0) return;
    for (const end of this._unwatch) end();
    this._unwatch = isDebug ? listen(agent, (line) => this.store("debug", line)) : [];
  }

  /** Sets a level for this many minutes, or the usual one. */
  private _set(level: number, minutes: number): void {
    this._cancel?.();
    this._cancel = undefined;
    this._level = minutes > 0 ? level : INFO;
    this._watch();
    this._ring.request(this._level + 1, minutes);
    if (minutes > 0) this._cancel = this._host.clock.timer(MINUTE_MS, () => this._set(level, minutes - 1));
  }
}

type Level = Parameters<Host["log"]>[0];

const after = (lead: string, value: string | undefined): string => (value === undefined ? "" : lead + value);

const listen = (agent: LogAgent, store: (line: string) => void): (() => void)[] => [
  agent.on("delivered", ({ points }) => store(`delivered: ${points}`)),
  agent.on("attributes", ({ keys, deleted }) =>
    store(`attributes: ${keys.join(", ")}${after("; deleted: ", deleted.join(", ") || undefined)}`),
  ),
  // A follower at this level would only see its own requests.
  agent.on("rpc", ({ stage, id, method, error }) => {
    if (method !== METHOD) store(`RPC ${id} ${method} ${stage}${after(": ", error)}`);
  }),
  agent.on("error", ({ code }) => store(`error: ${code}`)),
];

const firmwareLine = ({ state, version, error, progress }: AgentEvents["firmware"]): string =>
  `firmware ${version}: ${updateWord(state)}${progress === undefined ? "" : ` ${progress} %`}${after(": ", error)}`;
