// The worker process of `mote run`: one agent with the active image. It gets all it needs by
// message, ends when it is asked to, when the agent wants a restart, and when its supervisor is
// gone.
import { getHeapStatistics } from "node:v8";
import { addDiagnostics } from "../../extras/diagnostics/index.js";
import { assemble, startDevice } from "../../hosts/device/assemble.js";
import { TimedWakes } from "../../hosts/device/wakes.js";
import { BoundedOutput, leftOutLine } from "../../hosts/node/bounded-output.js";
import { StateFileError } from "../../hosts/node/files.js";
import { createHost, type NodeHost } from "../../hosts/node/host.js";
import { watchNetwork } from "../../hosts/node/network.js";
import { LockedError } from "../../hosts/node/state-lock.js";
import { teachRunningImage } from "../../src/agent/firmware/journal.js";
import { Recovery, SecretRedactor } from "../../src/board-module.js";
import type { Agent, Wake } from "../../src/index.js";
import { SupervisorChannel } from "./channel.js";
import { agentOptions, follow } from "./drive.js";
import { EventChannel } from "./event-channel.js";
import { ImageError, loadImage } from "./image.js";
import type { Ending, Event, ToWorker } from "./messages.js";
import { SignsOfLife } from "./signs-of-life.js";
import { storedImageInfo, storeImageInfo } from "./stored-image-info.js";
import { describe, traceCallbacks } from "./traced-callbacks.js";

const HEARTBEAT_MS = 5000;
const FLUSH_MS = 2000;
const STOP_MS = 1000;
const LAST_WORDS_MS = 500;
/** Digits of an image's SHA-256, by which the kept log names it. */
const BUILD = 16;

type StartMessage = Extract<ToWorker, { kind: "start" }>;

const signs = new SignsOfLife();
let agent: Agent | undefined;
let begun: Recovery | undefined;
let ending = false;
/** The image was or is being evaluated. */
let isLoading = false;
/** Removes the secrets that are known so far. */
let clean = (text: string): string => text;

/** Bytes that the engine's heap may still grow. */
function freeMemory(): number {
  return getHeapStatistics().heap_size_limit - process.memoryUsage().heapUsed;
}

const channel = new SupervisorChannel(receive, () => void end("stopped", true));

/** A supervisor that is stopped, or busy, does not read. */
const events = new BoundedOutput<Event>(
  new EventChannel((message, taken) => channel.send(message, taken)),
  (count) => ({
    event: "log",
    level: "warn",
    line: leftOutLine(count),
  }),
);
const emit = (event: Event): void => events.write(event);

/** The agent's last message, without which the end counts as a crash. */
function exit(how: Ending, reason = ""): void {
  channel.send({ kind: "end", how, reason });
  channel.exit(LAST_WORDS_MS);
}

function within(ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
    work.then(
      () => resolve(),
      () => resolve(),
    );
  });
}

async function end(how: Ending, flush: boolean): Promise<void> {
  if (ending) return;
  ending = true;
  // Stopped or started again in good order: nobody pulled the plug.
  begun?.markStable();
  if (agent) {
    if (flush && agent.state === "online") await within(FLUSH_MS, agent.flush({ timeoutMs: FLUSH_MS }));
    await within(STOP_MS, agent.stop());
  }
  exit(how);
}

function fail(error: unknown): void {
  if (ending) return;
  ending = true;
  // From then on, the error may be one that the image made.
  if (error instanceof StateFileError && !isLoading) exit("queue", error.message);
  else if (error instanceof LockedError && !isLoading) exit("inUse");
  else exit(error instanceof ImageError ? "unfit" : "crash", clean(describe(error)));
}

/** Also reports each secret to the supervisor, which prints all output of this process. */
class TellingRedactor extends SecretRedactor {
  override pin(secret: string): void {
    channel.send({ kind: "secret", secret, isOwn: true });
    super.pin(secret);
  }

  override conceal(secret: string): void {
    channel.send({ kind: "secret", secret, isOwn: false });
    super.conceal(secret);
  }
}

/**
 * Cleans the program's own output: the supervisor may read a line before the message that names
 * its secret.
 */
function cleanOutput(): void {
  for (const stream of [process.stdout, process.stderr]) {
    const write = stream.write.bind(stream) as (...args: unknown[]) => boolean;
    stream.write = (text: unknown, ...rest: unknown[]) =>
      write(typeof text === "string" ? clean(text) : text, ...rest);
  }
}

async function start({ config, path, slot, state, sha256, isFlashed, lastRun }: StartMessage): Promise<void> {
  const redactor = new TellingRedactor();
  clean = (text) => redactor.clean(text);
  cleanOutput();
  const machine: NodeHost = createHost({
    redactor,
    stateDir: config.stateDir,
    runningSlot: slot,
    ca: config.ca,
    insecureTls: config.insecureTls,
    lastRun,
    log: (level, line) => emit({ event: "log", level, line }),
    restart: (reason) => {
      diagnostics.log.store("info", `restart: ${reason}`);
      void end(reason === "reset" ? "reset" : "restart", false);
    },
  });
  reportConfirmation(machine);
  const diagnostics = addDiagnostics(machine, { build: sha256.slice(0, BUILD) });
  const open = signs.watch(machine.open);
  const host: NodeHost = { ...diagnostics.host, open };
  const recovery = new Recovery(host, sha256);
  begun = recovery;
  if (isFlashed) teachRunningImage(host, `SHA256 ${sha256}`);
  isLoading = !recovery.active;
  const image = recovery.active ? undefined : await loadImage(path);
  if (image) storeImageInfo(host, slot, sha256, image.firmware);
  const firmware = image ? image.firmware : storedImageInfo(host, slot, sha256);
  const { intervalMs, cycle } = config;
  const sleeper = cycle !== undefined && !recovery.active ? new TimedWakes(host, woken) : undefined;
  const device = assemble(
    {
      host,
      options: agentOptions(config, firmware),
      recovery,
      extras: [diagnostics],
      settings: { intervalMs },
      health: { freeMemory },
      sleeper,
      made(made) {
        agent = made;
        follow(made, emit);
        // A refusal during a trial may be the new image's fault: the trial decides.
        const leaves = () => config.exitOnRefusal && host.slot.state() === "confirmed";
        made.on("refused", () => leaves() && void end("refused", false));
        emit({ event: "started", title: firmware?.title, version: firmware?.version, slot, state });
        if (recovery.active) emit({ event: "recovery", cause: recovery.cause });
      },
    },
    (made, appHost) => {
      traceCallbacks(made, (line) => host.log("error", line));
      return image?.default(made, appHost);
    },
  );
  if (typeof device === "string") throw new ImageError(device);
  if (ending) return;
  // A sleeping device may open no connection for hours.
  if (sleeper) signs.expectWakes(intervalMs);
  else watchNetwork(host.clock, () => device.agent.networkReturned());
  startDevice(device);
  channel.send({ kind: "ready" });
}

/** Tells the supervisor once the agent confirmed the image. */
function reportConfirmation({ slot }: NodeHost): void {
  const confirm = slot.confirm.bind(slot);
  slot.confirm = () => {
    const isConfirmed = confirm();
    if (isConfirmed) channel.send({ kind: "confirmed" });
    return isConfirmed;
  };
}

function woken({ kept: _, ...wake }: Wake): boolean {
  signs.sign();
  emit({ event: "wake", ...wake });
  return !ending;
}

function receive(message: ToWorker): void {
  if (message.kind === "stop") void end("stopped", true);
  else start(message).catch(fail);
}

// Ctrl-C reaches every process of the terminal: the supervisor decides, and sends a message.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
// An image of a program in TypeScript says where its lines came from.
process.setSourceMapsEnabled(true);
process.on("uncaughtException", fail);
process.on("unhandledRejection", fail);
setInterval(() => channel.send({ kind: "heartbeat", lives: signs.lives }), HEARTBEAT_MS).unref();
