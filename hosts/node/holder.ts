// A process as the name of a lease says it, and whether that process still runs.
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import { codeOf } from "./files.js";

/** A process id, and when that process began, as ids are used again. `started` is "" if unknown. */
export interface Process {
  readonly pid: number;
  readonly started: string;
}

export interface Holder extends Process {
  /** Where `pid` means this process: the namespace of process ids on Linux, else the host's name. */
  readonly space: string;
  /** The running kernel since its start; "" if unknown. */
  readonly boot: string;
  /** The machine, for a process that runs in no container; else "". */
  readonly machine: string;
  /** A process that the holder started, and that may outlive the holder. */
  readonly worker?: Process | undefined;
}

/** Linux gives this number to the namespace of processes in no container. */
const OUTERMOST = "4026531836";

/** This process, or another one of the same machine and container. */
export const identify = (pid: number): Process => ({ pid, started: started(pid) });

export function thisProcess(): Holder {
  const me = identify(process.pid);
  if (process.platform !== "linux") return { ...me, space: hostname(), boot: "", machine: "" };
  const space = /\d+/.exec(attempt(() => readlinkSync("/proc/self/ns/pid")))?.[0] ?? "";
  const boot = line("/proc/sys/kernel/random/boot_id");
  return { ...me, space, boot, machine: space === OUTERMOST ? line("/etc/machine-id") : "" };
}

/** "alive" and "dead" are proven; "unknown" where the process id means nothing here. */
export function judge(holder: Holder, me: Holder): "alive" | "dead" | "unknown" {
  if (holder.boot !== me.boot) {
    // The same machine, which was started again since.
    return holder.machine !== "" && holder.machine === me.machine ? "dead" : "unknown";
  }
  return holder.space !== "" && holder.space === me.space ? look(holder) : "unknown";
}

/** Of a process of this machine and container. */
export function look({ pid, started: then }: Process): "alive" | "dead" | "unknown" {
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

/** In clock ticks since the start of the kernel, as Linux says; "" elsewhere. */
function started(pid: number): string {
  const stat = attempt(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  // The name in brackets may hold anything.
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

/** As part of a file's name: seven fields without a dot of their own. */
export function holderText({ pid, started, space, boot, machine, worker }: Holder): string {
  const fields = [pid, started, space, boot, machine, worker?.pid ?? "", worker?.started ?? ""];
  return fields.map((field) => String(field).replace(/[^A-Za-z0-9-]/g, "_") || UNKNOWN).join(".");
}

/** Undefined if `fields` are not those of a holder. */
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
