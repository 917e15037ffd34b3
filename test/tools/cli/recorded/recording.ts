// What commands print, as a text to compare with the one that was recorded: `node scripts/campaign.mjs record`
// records it again.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionContext } from "ava";
import { given } from "../../../arguments.js";
import { mote, type Result } from "../commands.js";

const FOLDER = "test/tools/cli/recorded";
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;

/** What differs from run to run and means nothing, with something of the same length in its place where it can. */
const MASKS: readonly [RegExp, string][] = [
  [/127\.0\.0\.1:\d+/g, "127.0.0.1:PORT0"],
  [/\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d\b/g, "2026-01-31 12:00:00"],
  [/\b20\d\d-\d\d-(?:\d\d ?)?…/g, "2026-01-…"],
  [/\b[0-9a-f]{8}…/g, "00000000…"],
  [/\b\d\d:\d\d:\d\d(?= {2})/g, "12:00:00"],
  [/\b1[78]\d{11}\b/g, "1700000000000"],
  [/\b\d+ s ago\b/g, "1 s ago"],
  [/\b\d+ s ?…/g, "9 s …"],
  [/\bprocess \d+/g, "process 1"],
  [/\b\d+ ms\b/g, "1 ms"],
  [/"durationMs": ?\d+/g, '"durationMs":1'],
];

export class Recording {
  readonly #env: Record<string, string>;
  readonly #secrets = new Map<string, string>();
  #text = "";

  constructor(env: Record<string, string>) {
    this.#env = env;
  }

  /** Shows up as that. */
  mask(text: string, shown: string): void {
    this.#secrets.set(text, shown);
  }

  async run(args: string[], env: Record<string, string> = {}): Promise<Result> {
    const result = await mote(args, { ...this.#env, ...env });
    const before = Object.entries(env).map(([name, value]) => `${name}=${value} `);
    this.add(`${before.join("")}mote ${args.map(quoted).join(" ")}`, result);
    return result;
  }

  add(command: string, { code, out, err }: Result): void {
    const errors = err.split("\n").slice(0, -1);
    this.#text += [`$ ${command}\n`, out, ...errors.map((line) => `! ${line}\n`), `exit ${code}\n\n`].join(
      "",
    );
  }

  /** Fails where it is not what was recorded. */
  compare(t: ExecutionContext, name: string): void {
    const file = join(FOLDER, `${name}.txt`);
    const text = this.#masked();
    // Neither colour nor a move of the cursor where there is no terminal.
    t.false(text.includes("\u001b"));
    if (given("record")) writeFileSync(file, text);
    t.is(text, existsSync(file) ? readFileSync(file, "utf8") : "(nothing was recorded)");
  }

  #masked(): string {
    let text = this.#text;
    for (const [secret, shown] of this.#secrets) text = text.replaceAll(secret, shown);
    for (const [pattern, shown] of MASKS) text = text.replace(pattern, shown);
    const met = new Map<string, string>();
    return text.replace(UUID, (id) => {
      const number = String(met.size + 1).padStart(12, "0");
      if (!met.has(id)) met.set(id, `00000000-0000-0000-0000-${number}`);
      return met.get(id) ?? "";
    });
  }
}

const quoted = (arg: string): string => (/^[\w./:@=*-]+$/.test(arg) ? arg : `'${arg}'`);
