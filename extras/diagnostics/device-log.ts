// The device log: the last lines, stored over restarts and crashes, and read by the RPC `mote.log`.

import { SecretRedactor, updateWord } from "../../src/board-module.js";
import type { AgentEvents } from "../../src/events.js";
import type { Host, Redactor } from "../../src/port.js";
import { escaped, fitting } from "./line-text.js";
import { type KeptLine, Ring, ramOf } from "./ring.js";
import type { LogAgent, LogAnswer, LogHost, LogOptions } from "./types.js";

const LEVELS = ["info", "warn", "error"] as const;
const SIZE = 4096;
/** Limit of escaped characters in a line; more would not fit. */
const BEGINNING = 512;
/** Bytes of a line in an answer besides its text: brackets, quotes, commas, uptime, level. */
const AROUND = 26;

type Level = Parameters<Host["log"]>[0];
type Row = LogAnswer["lines"][number];

/** Create it before the agent, which logs from the start; attach the agent afterwards. */
export class DeviceLog {
  private readonly _host: Pick<LogHost, "clock" | "encode" | "decode">;
  /** The host's own log function, which shows lines. */
  private readonly _show: Host["log"];
  private readonly _build: string | null;
  private readonly _ring: Ring;
  private readonly _redactor: Redactor;
  private _crash: string | undefined;

  constructor(host: LogHost, { build }: LogOptions = {}) {
    const { clock, encode, decode, lastRun } = host;
    // Not the whole host, which `over` replaces: a board frees it.
    this._host = { clock, encode, decode };
    this._show = host.log;
    this._redactor = host.redactor ?? new SecretRedactor();
    this._ring = new Ring(host.logMemory ?? ramOf(SIZE));
    this._build = build ?? null;
    if (!lastRun) return;
    const { reset, crash, place } = lastRun;
    this.store("info", `start: ${reset}`);
    if (crash === false) return;
    if (place) this.store("error", `backtrace of ${place.build}: ${place.backtrace}`);
    // The crash may contain a secret, and all secrets are known only after the agent was created.
    this._crash = crash;
  }

  /** Shows and stores a line of the agent or application. */
  readonly log: Host["log"] = (level, line) => {
    const clean = this._redactor.clean(line);
    this._show(level, clean);
    this._append(level, clean);
  };

  /** Hides this text in all later lines. */
  readonly conceal = (secret: string): void => this._redactor.conceal(secret);

  /** A copy of `host` with this log instead of its own, for the agent and the application. */
  over<H extends LogHost>(host: H): H {
    const { log, conceal, forget, _redactor: redactor } = this;
    return { ...host, log, conceal, redactor, forgetLines: forget };
  }

  /** Erases all lines. False if the memory fails. */
  readonly forget = (): boolean => this._ring.forget();

  /** Stores a line without showing it: at most 240 bytes of UTF-8. */
  store(level: Level, line: string): void {
    this._append(level, this._redactor.clean(line));
  }

  /** Answers `mote.log` and records the agent's events. Call once, before `agent.start()`. */
  attach(agent: LogAgent): void {
    agent.rpc.handle("mote.log", () => this.answer(agent.rpc.answerBytes), { once: false });
    if (this._crash !== undefined) this.store("error", `the run before ended with: ${this._crash}`);
    this._crash = undefined;
    const info = (line: string): void => this.store("info", line);
    agent.on("provisioned", ({ deviceName }) => info(`provisioned${after(" as ", deviceName)}`));
    agent.on("online", () => info("online"));
    agent.on("offline", ({ reason }) => info(`offline: ${reason}`));
    agent.on("firmware", (detail) => {
      if (detail.progress === undefined) info(firmwareLine(detail));
    });
  }

  /** The newest lines that fit into `bytes` of JSON. */
  answer(bytes: number): LogAnswer {
    const lines: Row[] = [];
    let size = 0;
    this._ring.read(({ text }) => {
      size += text.length + AROUND;
    });
    // Only those that may fit, because a board has no memory for all of them.
    this._ring.read((line) => {
      if (size <= bytes) lines.push(this._rowOf(line));
      size -= line.text.length + AROUND;
    });
    const answer = { build: this._build, uptime: this._tenths / 10, lines };
    while (lines.length > 0 && this._host.encode(JSON.stringify(answer)).length > bytes) lines.shift();
    return answer;
  }

  private _append(level: Level, clean: string): void {
    const text = fitting(this._host, escaped(clean.slice(0, BEGINNING)));
    this._ring.append(LEVELS.indexOf(level), this._tenths, text);
  }

  private get _tenths(): number {
    return Math.floor(this._host.clock.now() / 100);
  }

  /** Cleaned again, because a secret may have become known after the line was stored. */
  private _rowOf({ tenths, level, text }: KeptLine): Row {
    return [tenths / 10, LEVELS[level] ?? LEVELS[0], this._redactor.clean(this._host.decode(text) ?? "")];
  }
}

const after = (lead: string, value: string | undefined): string => (value === undefined ? "" : lead + value);

const firmwareLine = ({ state, version, error }: AgentEvents["firmware"]): string =>
  `firmware ${version}: ${updateWord(state)}${after(": ", error)}`;
