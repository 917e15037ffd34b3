// What was measured last, program by program and row by row: a run of one row adds to it. In build/, so nothing of it is committed.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../../tools/project.js";
import type { Profile } from "./profile.js";
import type { ProgramName } from "./programs.js";
import type { Cost } from "./rows.js";

/** Short runs are kept apart: nobody quotes them. */
export type Length = "whole" | "quick";

export type KeptCosts = Readonly<Record<string, Cost>>;
export type KeptProfiles = Readonly<Record<string, Profile>>;

export const keptCosts = (program: ProgramName, length: Length): KeptCosts =>
  read(fileOf(program, length, "costs"));
export const keptProfiles = (program: ProgramName, length: Length): KeptProfiles =>
  read(fileOf(program, length, "profiles"));

/** A program has a process of its own, so nobody else writes its files. */
export function keep(program: ProgramName, length: Length, costs: KeptCosts, profiles: KeptProfiles): void {
  write(fileOf(program, length, "costs"), { ...keptCosts(program, length), ...costs });
  write(fileOf(program, length, "profiles"), { ...keptProfiles(program, length), ...profiles });
}

const fileOf = (program: ProgramName, length: Length, what: string): string =>
  join(PROJECT, "build", "chip", `bench-${length}`, `${program}-${what}.json`);

const read = <T>(file: string): Readonly<Record<string, T>> =>
  existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};

function write(file: string, value: unknown): void {
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
