// A disk in memory in place of the file system, for one directory: it keeps what was synced, and of
// the rest whatever it likes.
//
// As POSIX has it: `fsync` of a file keeps its bytes, not its name; `fsync` of a directory keeps
// the names in it. What was not synced when the power goes is kept in part and in any order. At
// `before` and `after` only the process is killed: nothing is lost by that, nor synced.
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname } from "node:path";
import type { Kind, Power } from "../fakes/power.js";

/** Below this all is on the disk of the moment. */
export const ROOT = "/disk-of-a-power-loss-test";
const FIRST_FD = 1_000_000;
const UID = process.geteuid?.() ?? 0;

interface Inode {
  readonly isDirectory: boolean;
  /** As programs read it now, and as the disk keeps it. */
  bytes: Uint8Array;
  kept: Uint8Array;
}

/**
 * What was done and not synced: a name was given, or taken away, or both at once; or bytes were
 * written.
 */
type Pending =
  | { readonly what: "name"; readonly from?: string; readonly to: string; readonly inode?: Inode }
  | { readonly what: "bytes"; readonly inode: Inode; readonly at: number; readonly bytes: Uint8Array };

const makeInode = (isDirectory: boolean): Inode => ({
  isDirectory,
  bytes: new Uint8Array(0),
  kept: new Uint8Array(0),
});

const trouble = (code: string, path: string): Error => Object.assign(new Error(`${code}: ${path}`), { code });

export class Disk {
  #names = new Map<string, Inode>([[ROOT, makeInode(true)]]);
  #keptNames = new Map(this.#names);
  #pending: Pending[] = [];
  #files = new Map<number, Inode>();
  #nextFile = FIRST_FD;
  #loss: { kind: Kind; random: () => number } | undefined;
  #power: Power | undefined;

  /**
   * The next start: of what was not synced at the last power loss chance has kept some. From now on
   * this is what lies below ROOT.
   */
  start(power: Power): void {
    this.#power = power;
    const { kind, random } = this.#loss ?? { kind: "after", random: () => 0 };
    this.#loss = undefined;
    this.#lose(kind, random);
    mount(this);
  }

  #change<T>(name: string, act: () => T, isSync = false): T {
    return this.#power!.change(name.replace(`${ROOT}/`, ""), act, (kind, random) => {
      if (!isSync) act();
      this.#loss = { kind, random };
    });
  }

  #at(path: string): Inode {
    const inode = this.#names.get(path);
    if (!inode) throw trouble("ENOENT", path);
    return inode;
  }

  #file(file: number): Inode {
    this.#power!.check();
    const inode = this.#files.get(file);
    if (!inode) throw trouble("EBADF", String(file));
    return inode;
  }

  open(path: string, flags: string): number {
    this.#power!.check();
    const found = this.#names.get(path);
    if (found && flags.includes("x")) throw trouble("EEXIST", path);
    if (!found && flags.startsWith("r")) throw trouble("ENOENT", path);
    const inode = found ?? makeInode(false);
    if (!found) this.#change(`create ${path}`, () => this.#name({ what: "name", to: path, inode }));
    else if (flags.startsWith("w")) this.truncate(inode, 0, path);
    const file = this.#nextFile++;
    this.#files.set(file, inode);
    return file;
  }

  mkdir(path: string): void {
    this.#at(dirname(path));
    if (this.#names.has(path)) throw trouble("EEXIST", path);
    const inode = makeInode(true);
    this.#change(`mkdir ${path}`, () => this.#name({ what: "name", to: path, inode }));
  }

  rename(from: string, to: string): void {
    const inode = this.#at(from);
    this.#change(`rename ${to}`, () => this.#name({ what: "name", from, to, inode }));
  }

  unlink(path: string): void {
    this.#at(path);
    this.#change(`unlink ${path}`, () => this.#name({ what: "name", to: path }));
  }

  write(file: number, bytes: Uint8Array, at: number): number {
    const inode = this.#file(file);
    // A Buffer's own slice would be no copy.
    const copy = Uint8Array.from(bytes);
    this.#change(`write ${at}+${bytes.length}`, () => {
      inode.bytes = overlay(inode.bytes, at, copy);
      this.#pending.push({ what: "bytes", inode, at, bytes: copy });
    });
    return bytes.length;
  }

  truncate(file: Inode | number, size: number, path = ""): void {
    const inode = typeof file === "number" ? this.#file(file) : file;
    this.#change(`truncate ${path}`, () => {
      // To more: holes, which are kept with the name. To less: nothing that was there is wanted any
      // more.
      inode.bytes = overlay(inode.bytes.slice(0, size), size, new Uint8Array(0));
      inode.kept = inode.bytes.slice();
    });
  }

  sync(file: number): void {
    const inode = this.#file(file);
    const path = [...this.#names].find(([, one]) => one === inode)?.[0];
    const isKept = (one: Pending) => (one.what === "bytes" ? one.inode === inode : dirname(one.to) === path);
    this.#change(
      `sync ${path}`,
      () => {
        for (const one of this.#pending) if (isKept(one)) this.#keep(one);
        this.#pending = this.#pending.filter((one) => !isKept(one));
      },
      true,
    );
  }

  close(file: number): void {
    this.#files.delete(file);
  }

  size(file: number): number {
    return this.#file(file).bytes.length;
  }

  read(file: number, into: Uint8Array, from: number, length: number, at: number): number {
    const bytes = this.#file(file).bytes.subarray(at, at + length);
    into.set(bytes, from);
    return bytes.length;
  }

  readFile(from: string | number): Buffer {
    this.#power!.check();
    return Buffer.from((typeof from === "number" ? this.#file(from) : this.#at(from)).bytes);
  }

  /** Names in a directory. */
  list(path: string): string[] {
    this.#power!.check();
    this.#at(path);
    return [...this.#names.keys()].filter((name) => dirname(name) === path).map((name) => basename(name));
  }

  isDirectory(path: string): boolean | undefined {
    this.#power!.check();
    return this.#names.get(path)?.isDirectory;
  }

  #name(op: Pending & { what: "name" }): void {
    applyName(this.#names, op);
    this.#pending.push(op);
  }

  #keep(op: Pending): void {
    if (op.what === "name") applyName(this.#keptNames, op);
    else op.inode.kept = overlay(op.inode.kept, op.at, op.bytes);
  }

  #lose(kind: Kind, random: () => number): void {
    this.#files.clear();
    if (kind === "before" || kind === "after") return;
    const prefix = Math.floor((random() / 256) * (this.#pending.length + 1));
    for (const [i, op] of this.#pending.entries()) {
      const half = random() < 128;
      if (kind === "prefix" && i < prefix) this.#keep(op);
      else if (kind === "reordered" && half) this.#keep(op);
      // Names are kept, bytes are not: the file has its length and nothing in it.
      else if (kind === "garbage")
        this.#keep(op.what === "name" ? op : { ...op, bytes: new Uint8Array(op.bytes.length) });
      else if (kind === "bits" && op.what === "name" && half) this.#keep(op);
      else if (kind === "bits" && op.what === "bytes")
        this.#keep({ ...op, bytes: op.bytes.subarray(0, Math.floor((random() / 256) * op.bytes.length)) });
    }
    this.#pending = [];
    const isThere = (path: string): boolean =>
      path === ROOT || (this.#keptNames.has(path) && isThere(dirname(path)));
    this.#keptNames = new Map([...this.#keptNames].filter(([path]) => isThere(path)));
    this.#names = new Map(this.#keptNames);
    for (const inode of this.#names.values()) inode.bytes = inode.kept.slice();
  }
}

function applyName(names: Map<string, Inode>, { from, to, inode }: Pending & { what: "name" }): void {
  if (from !== undefined) names.delete(from);
  if (inode) names.set(to, inode);
  else names.delete(to);
}

/** `bytes` with `piece` at `at`; what lies between is zeros. */
function overlay(bytes: Uint8Array, at: number, piece: Uint8Array): Uint8Array {
  const all = new Uint8Array(Math.max(bytes.length, at + piece.length));
  all.set(bytes);
  all.set(piece, at);
  return all;
}

let mounted: Disk | undefined;
const real = { ...fs };
const here = (path: unknown): path is string => typeof path === "string" && path.startsWith(ROOT);
const mine = (file: unknown): boolean => typeof file === "number" && file >= FIRST_FD;

/** Puts `disk` below ROOT; all other paths stay the real ones. */
function mount(disk: Disk): void {
  const isFirst = !mounted;
  mounted = disk;
  if (!isFirst) return;
  const d = () => mounted as Disk;
  const put = (
    name: keyof typeof fs,
    is: (first: unknown) => boolean,
    // biome-ignore lint/suspicious/noExplicitAny: the overloads of node:fs are not repeated here
    act: (...args: any[]) => unknown,
  ): void => {
    const original = real[name] as (...args: unknown[]) => unknown;
    Object.assign(fs, { [name]: (...args: unknown[]) => (is(args[0]) ? act(...args) : original(...args)) });
  };
  put("openSync", here, (path, flags = "r") => d().open(path, typeof flags === "number" ? "r+" : flags));
  put("mkdirSync", here, (path) => d().mkdir(path));
  put("renameSync", here, (from, to) => d().rename(from, to));
  put("unlinkSync", here, (path) => d().unlink(path));
  put(
    "readFileSync",
    (from) => here(from) || mine(from),
    (from) => d().readFile(from),
  );
  put("readdirSync", here, (path) => d().list(path));
  put("statSync", here, (path) => {
    const isDirectory = d().isDirectory(path);
    return isDirectory === undefined ? undefined : { isDirectory: () => isDirectory, uid: UID };
  });
  put("writeSync", mine, (file, bytes, from, length, at) =>
    d().write(file, bytes.subarray(from, from + length), at),
  );
  put("readSync", mine, (file, into, from, length, at) => d().read(file, into, from, length, at));
  put("fstatSync", mine, (file) => ({ size: d().size(file), isFile: () => true, uid: UID }));
  put("ftruncateSync", mine, (file, size) => d().truncate(file, size));
  put("fsyncSync", mine, (file) => d().sync(file));
  put("fdatasyncSync", mine, (file) => d().sync(file));
  put("closeSync", mine, (file) => d().close(file));
  syncBuiltinESMExports();
}
