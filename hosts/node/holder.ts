// Identifies a process in the name of a lease, and tells whether it still runs.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf } from "./files.js";

/** A process id and its start time, because ids are reused. `started` is "" if unknown. */
export interface Process {
  readonly pid: number;
  readonly started: string;
}

export interface Holder extends Process {
  /** Scope of `pid`: the process-id namespace on Linux, otherwise the host's name. */
  readonly space: string;
  /** Identifies the running kernel since its start; "" if unknown. */
  readonly boot: string;
  /** Identifies the machine for a process outside containers; otherwise "". */
  readonly machine: string;
  /** A process that the holder started and that may outlive it. */
  readonly worker?: Process | undefined;
}

/** Linux uses this number for the namespace outside containers. */
const OUTERMOST = "4026531836";

/** This process, or another one on the same machine and container. */
export const identify = (pid: number): Process => ({ pid, started: started(pid) });

export function thisProcess(): Holder {
  const me = identify(process.pid);
  if (process.platform !== "linux") return { ...me, space: hostname(), boot: "", machine: "" };
  const space = /\d+/.exec(attempt(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? "";
  const boot = line("/proc/sys/kernel/random/boot_id");
  return { ...me, space, boot, machine: space === OUTERMOST ? line("/etc/machine-id") : "" };
}

/** "alive" and "dead" are proven; "unknown" if the process id is from another scope. */
export function holderState(holder: Holder, me: Holder): "alive" | "dead" | "unknown" {
  if (holder.boot !== me.boot) {
    // The same machine after a reboot.
    return holder.machine !== "" && holder.machine === me.machine ? "dead" : "unknown";
  }
  return holder.space !== "" && holder.space === me.space ? processState(holder) : "unknown";
}

/** For a process of this machine and container. */
export function processState({ pid, started: then }: Process): "alive" | "dead" | "unknown" {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (codeOf(error) !== "EPERM") return "dead";
  }
  const now = started(pid);
  if (now === ENDED) return "dead";
  if (then === "" || now === "") return "unknown";
  return then === now ? "alive" : "dead";
}

const ENDED = "ended";

/** Start in clock ticks since the kernel's start, on Linux; "" elsewhere. */
function started(pid: number): string {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in brackets may contain anything.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields[0] === "Z" || fields[0] === "X" ? ENDED : (fields[19] ?? "");
}

const line = (path: string): string => attempt(() => readFileSync(path, "latin1")).trim();

function attempt(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

const FIELDS = 7;
const UNKNOWN = "-";

/** Encodes a holder for a file name: seven fields without dots. */
export function holderText({ pid, started, space, boot, machine, worker }: Holder): string {
  const fields = [pid, started, space, boot, machine, worker?.pid ?? "", worker?.started ?? ""];
  return fields.map((field) => String(field).replace(/[^A-Za-z0-9-]/g, "_") || UNKNOWN).join(".");
}

/** Undefined if `fields` are not a holder. */
export function parseHolder(fields: readonly string[]): Holder | undefined {
  if (fields.length !== FIELDS || !/^\d+$/.test(fields[0] ?? "")) return undefined;
  const [pid, since, space, boot, machine, worker, workerSince] = fields.map((field) =>
    field === UNKNOWN ? "" : field,
  ) as [string, string, string, string, string, string, string];
  return {
    ...{ pid: Number(pid), started: since, space, boot, machine },
    ...(worker !== "" && { worker: { pid: Number(worker), started: workerSince } }),
  };
}
